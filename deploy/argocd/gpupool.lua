-- Health of a GpuPool: Healthy when jobs can start in it.
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
  found[condition.type] = condition
end
local ready, stalled = found.Ready, found.Stalled
if ready ~= nil then
  health.message = ready.reason or ""
  if ready.message ~= nil and ready.message ~= "" then
    health.message = health.message .. ": " .. ready.message
  end
end
if stalled ~= nil and stalled.status == "True" then
  health.status = "Degraded"
elseif ready ~= nil and ready.status == "True" then
  health.status = "Healthy"
end
return health
