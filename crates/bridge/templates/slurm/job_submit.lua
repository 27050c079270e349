-- Holds every job of the partition {{ partition }} as it is submitted; `synth bridge` releases it when the policy starts it.
-- Stands beside slurm.conf, and needs `JobSubmitPlugins=lua` there. Where there is a job_submit.lua already, put the
-- function `goes_to_synth` above its slurm_job_submit, and the line that calls it into that function.

-- Jobs that name no partition go to the default one; those that name several may start in any of them.
local function goes_to_synth(job, partitions)
  if job.partition == nil then
    local own = partitions["{{ partition }}"]
    return own ~= nil and own.flag_default == 1
  end
  for name in string.gmatch(job.partition, "[^,]+") do
    if name == "{{ partition }}" then return true end
  end
  return false
end

function slurm_job_submit(job, partitions, uid)
  if goes_to_synth(job, partitions) then job.priority = 0 end
  return slurm.SUCCESS
end

function slurm_job_modify(job, record, partitions, uid)
  return slurm.SUCCESS
end

return slurm.SUCCESS
