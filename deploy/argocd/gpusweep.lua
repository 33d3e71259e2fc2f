-- Health of a GpuSweep, as Argo CD shows a Job: Progressing until it has ended.
local health = {status = "Progressing", message = "gpupool has not seen it yet"}
local status = obj.status
if obj.metadata.deletionTimestamp ~= nil then
  health.message = "being deleted"
  return health
end
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  return health
end
local found = {}
for _, condition in ipairs(status.conditions or {}) do
  if condition.status == "True" then
    found[condition.type] = condition
  end
end
health.message = status.phase or ""
local told = found.Stalled or status
if told.reason ~= nil and told.reason ~= status.phase then
  health.message = health.message .. ", " .. told.reason
end
if told.message ~= nil and told.message ~= "" then
  health.message = health.message .. ": " .. told.message
end
if found.Complete then
  health.status = "Healthy"
elseif found.Failed or found.Stalled then
  health.status = "Degraded"
elseif found.Suspended then
  health.status = "Suspended"
end
return health
