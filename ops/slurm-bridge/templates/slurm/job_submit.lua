-- Holds every job of the partition {{ site.partition }} as it is submitted; `synth bridge` releases it when the policy starts it.
-- JobSubmitPlugins in slurm.conf has to list lua. A site without a job_submit.lua installs this file next to slurm.conf. A site
-- that has one keeps it, stores this file elsewhere, and adds this line above its last `return slurm.SUCCESS`:
--   pcall(dofile, "/path/of/this/file")

-- Jobs that name no partition go to the default one; those that name several may start in any of them.
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

-- The functions of the site's own script, if that has loaded this file. Its answers hold.
local own_submit, own_modify = slurm_job_submit, slurm_job_modify

-- An error must not reach Slurm, which from 26.05 on refuses the job for it: the job is not held, and slurmctld.log has the reason.
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
