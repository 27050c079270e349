-- Holds each job of the partition {{ site.partition }} when it is submitted. It is released by `synth bridge` when the policy starts it.
-- In slurm.conf, JobSubmitPlugins must contain lua. If the site does not have a job_submit.lua, copy this file to the folder of
-- slurm.conf. If it has one, keep it, copy this file to another folder, and add this line above its last `return slurm.SUCCESS`:
--   pcall(dofile, "/path/of/this/file")

-- If a job does not specify a partition, the default is used. If it specifies several, it may start in any of them.
local function goes_to_synth(job, partitions)
  if job.partition == nil then
    local own = partitions["{{ site.partition }}"]
    return own ~= nil and own.flag_default == 1
  end
  for name in string.gmatch(job.partition, "[^,]+") do
    if name == "{{ site.partition }}" then return true end
  end
  return false
end

local function hold(job, partitions)
  if goes_to_synth(job, partitions) then job.priority = 0 end
end

-- The functions of the site's own script, if this file was loaded by it. Their return values are kept.
local own_submit, own_modify = slurm_job_submit, slurm_job_modify

-- Errors are not passed to Slurm, because Slurm 26.05 and later would reject the job. Instead the job is not held, and the error is
-- written to slurmctld.log.
function slurm_job_submit(job, partitions, ...)
  local answer = slurm.SUCCESS
  if own_submit ~= nil then answer = own_submit(job, partitions, ...) end
  local done, why = pcall(hold, job, partitions)
  if not done then pcall(slurm.log_error, "job_submit.lua: a job is not held: %s", tostring(why)) end
  return answer
end

function slurm_job_modify(...)
  if own_modify ~= nil then return own_modify(...) end
  return slurm.SUCCESS
end

return slurm.SUCCESS
