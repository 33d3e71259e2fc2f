-- Health of a GpuJob, as Argo CD shows a Job: Progressing until it has ended.
local health = {status = "Progressing", message = "gpupool has not seen it yet"}
local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  return health
end
local function is_true(kind)
  for _, condition in ipairs(status.conditions or {}) do
    if condition.type == kind then
      return condition.status == "True"
    end
  end
  return false
end
health.message = status.phase
if status.reason ~= nil and status.reason ~= status.phase then
  health.message = health.message .. ", " .. status.reason
end
if status.message ~= nil and status.message ~= "" then
  health.message = health.message .. ": " .. status.message
end
if is_true("Complete") then
  health.status = "Healthy"
elseif is_true("Failed") or is_true("Stalled") then
  health.status = "Degraded"
elseif is_true("Suspended") then
  health.status = "Suspended"
end
return health
