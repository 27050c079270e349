-- The order of jobs in {{ site.partitions }}: {{ site.words }}.
-- The order is the site factor of jobs, which `PriorityType=priority/multifactor` adds to the other parts of their priority.
-- JobSubmitPlugins in slurm.conf has to list lua. A site without a job_submit.lua installs this file next to slurm.conf. A site
-- that has one keeps it, and adds this line above its last `return slurm.SUCCESS`:
--   pcall(dofile, "/etc/synth/order/job_submit.lua")
-- Run check.sh before either.

-- Numbers; pending.sh reads them here, so each stands alone in its line.
local ORDERED = "{{ site.partitions }}"
-- So many points does a job lose with ten times the limit…
local LIMIT = {{ points.limit }}
-- …and with ten times the share, so many does it get with ten times the wait; OFFSET seconds are added to waits.
local SHARE = {{ points.share }}
local WAIT = {{ points.wait }}
local OFFSET = {{ points.offset }}
-- A job of one minute and one CPU has these.
local BASE = {{ points.base }}
-- A share is counted in CPUs: the largest of a job's CPUs times the first and its GPUs times the second.
local CPU = {{ site.cpu }}
{%- if site.gpu_is_unknown %}
-- Partitions with GPUs: write their CPUs over their GPUs here (check.sh computes it), or GPUs do not count.
{%- endif %}
local GPU = {{ site.gpu }}
-- 1 where SelectType is select/linear, so that all jobs get whole nodes.
local WHOLE_NODES = 0
-- After so many seconds of waiting a job goes first (pending.sh moved); 0: no such promise.
local PROMISE = {{ points.promise }}

local NO_VAL, YEAR = 4294967294, 525600

-- Returns a number; nothing where the field says that it was not set (NO_VAL).
local function number_in(value)
  if value ~= nil and value < NO_VAL then return value end
end

-- Returns the first partition of a job that is ordered, if one is, by its record; without a name it is the default one.
local function ordered(names, partitions)
  for own in string.gmatch(ORDERED, "[^,]+") do
    local record = partitions[own]
    if names == nil then
      if record ~= nil and record.flag_default == 1 then return record end
    else
      for name in string.gmatch(names, "[^,]+") do
        -- Those that its owner may not use are not in the list.
        if name == own then return record or {} end
      end
    end
  end
end

-- Returns the sum of counts in such as "gres:gpu:a100:4" or "gres/gpu=4".
local function gpus(text)
  local sum = 0
  for item in string.gmatch(text or "", "[^,]+") do
    if string.find(item, "gpu", 1, true) then sum = sum + (tonumber(string.match(item, "[:=](%d+)$")) or 1) end
  end
  return sum
end

-- Returns what a job takes of the scarcest resource, in CPUs. The fields of 16 bits (cpus_per_task, ntasks_per_node) are not
-- read: what they say is in min_cpus, too.
local function share(job, partition)
  local cpus, nodes = number_in(job.min_cpus) or 1, number_in(job.min_nodes) or 1
  local each = (partition.total_cpus or 0) / math.max(partition.total_nodes or 1, 1)
  if each > 0 and (job.shared == 0 or partition.max_share == 0 or WHOLE_NODES == 1) then
    nodes = math.max(nodes, math.ceil(cpus / each))
    cpus = nodes * each
  end
  local devices = math.max(gpus(job.tres_per_job), gpus(job.tres_per_node) * nodes, gpus(job.tres_per_socket) * nodes,
    gpus(job.tres_per_task) * (number_in(job.num_tasks) or 1))
  cpus = math.max(cpus, nodes, devices * gpus(job.cpus_per_tres))
  return math.max(CPU * cpus, GPU * devices, 1)
end

-- Returns the limit of a job, in minutes.
local function limit(job, partition)
  local minutes = job.time_limit
  if minutes == nil or minutes == NO_VAL then minutes = number_in(partition.default_time) or partition.max_time end
  return math.min(math.max(minutes or YEAR, 1), YEAR)
end

local function points(job, partition)
  return BASE - (LIMIT * math.log(limit(job, partition)) + SHARE * math.log(share(job, partition))) / math.log(10)
end

-- Slurm checks nothing: a negative number or a large one would come out as another.
local function within(factor)
  return math.min(math.max(math.floor(factor + 0.5), 1), 2000000)
end

local function order_new(job, partitions)
  local partition = ordered(job.partition, partitions)
  if partition ~= nil then job.site_factor = within(points(job, partition)) end
end

-- A job's owner may change its limit, CPUs, nodes and partition while it waits. Slurm updates what it can before it finds a fault
-- in another field, and then never comes to the factor: so its own number alone is not trusted.
local function order_again(job, record, partitions)
  local before = ordered(record.partition, partitions)
  local after = ordered(job.partition or record.partition, partitions)
  if after == nil then
    if before ~= nil then job.site_factor = 0 end
    return
  end
  local changed = setmetatable({}, { __index = function(_, name)
    local value = job[name]
    if value == nil or value == NO_VAL then value = record[name] end
    return value
  end })
  local factor = points(changed, after)
  if before ~= nil and record.site_factor > 0 then
    local own = points(record, before)
    if own == factor then return end
    -- It has what the record does not tell: --exclusive, or what pending.sh gave for the wait. That stays, up to all of the wait.
    if record.site_factor ~= within(own) then
      local waited = math.max(os.time() - (record.submit_time or os.time()), 0)
      local most = WAIT > 0 and factor + WAIT * math.log(1 + waited / OFFSET) / math.log(10) or factor
      factor = math.min(record.site_factor + math.floor(factor - own), most)
    end
  end
  job.site_factor = within(factor)
end

-- Runs one of the two functions above. An error must not reach Slurm, which from 26.05 on refuses the job for it: the job passes
-- without an order, and slurmctld.log has the reason.
local function safely(order, ...)
  local done, why = pcall(order, ...)
  if not done then pcall(slurm.log_error, "job_submit.lua: a job has no order: %s", tostring(why)) end
end

-- The functions of the site's own script, if that has loaded this file. Its answers hold.
local own_submit, own_modify = slurm_job_submit, slurm_job_modify

function slurm_job_submit(job, partitions, ...)
  local answer = slurm.SUCCESS
  if own_submit ~= nil then answer = own_submit(job, partitions, ...) end
  safely(order_new, job, partitions)
  return answer
end

function slurm_job_modify(job, record, partitions, ...)
  local answer = slurm.SUCCESS
  if own_modify ~= nil then answer = own_modify(job, record, partitions, ...) end
  safely(order_again, job, record, partitions)
  return answer
end

return slurm.SUCCESS
