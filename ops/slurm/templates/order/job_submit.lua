-- The order of jobs in {{ order.partitions }}: {{ order.words }}.
-- The order is given by the site factor of each job, which is added to its priority if `PriorityType=priority/multifactor` is set.
-- In slurm.conf, JobSubmitPlugins must contain lua. If the site does not have a job_submit.lua, copy this file to the folder of
-- slurm.conf. If it has one, keep it, and add this line above its last `return slurm.SUCCESS`:
--   pcall(dofile, "/etc/synth/order/job_submit.lua")
-- In both cases, run check.sh first.

-- These numbers are also read by pending.sh, so each of them must be on its own line.
local ORDERED = "{{ order.partitions }}"
-- A job has this number of points less if its limit is ten times as long.
local LIMIT = {{ order.limit }}
-- SHARE points are subtracted for ten times the share, and WAIT points are added for ten times the wait plus OFFSET seconds.
local SHARE = {{ order.share }}
local WAIT = {{ order.wait }}
local OFFSET = {{ order.offset }}
-- The number of points of a job with one CPU and a limit of one minute.
local BASE = {{ order.base }}
-- The share of a job is the maximum of its CPUs multiplied by CPU and its GPUs multiplied by GPU.
local CPU = {{ order.cpu }}
{%- if order.gpu_is_unknown %}
-- If a partition has GPUs, write the number of CPUs per GPU here (it is printed by check.sh). Otherwise GPUs are not counted.
{%- endif %}
local GPU = {{ order.gpu }}
-- Set this to 1 if SelectType is select/linear, so that all jobs are allocated whole nodes.
local WHOLE_NODES = 0
-- If a job has waited for this number of seconds, `pending.sh moved` puts it first. 0 means that this is not done.
local PROMISE = {{ order.promise }}

local NO_VAL, YEAR = 4294967294, 525600

-- Returns the number in a field, or nil if it was not set (NO_VAL).
local function number_in(value)
  if value ~= nil and value < NO_VAL then return value end
end

-- Returns the record of the first ordered partition of a job, or nil. If no name is given, the default partition is used.
local function ordered(names, partitions)
  for own in string.gmatch(ORDERED, "[^,]+") do
    local record = partitions[own]
    if names == nil then
      if record ~= nil and record.flag_default == 1 then return record end
    else
      for name in string.gmatch(names, "[^,]+") do
        -- If the owner cannot use a partition, it is not in the list.
        if name == own then return record or {} end
      end
    end
  end
end

-- Returns the total number of GPUs in a text such as "gres:gpu:a100:4" or "gres/gpu=4".
local function gpus(text)
  local sum = 0
  for item in string.gmatch(text or "", "[^,]+") do
    if string.find(item, "gpu", 1, true) then sum = sum + (tonumber(string.match(item, "[:=](%d+)$")) or 1) end
  end
  return sum
end

-- Returns the share of a job in CPUs, for the resource of which it uses most. The fields with 16 bits (cpus_per_task,
-- ntasks_per_node) are not needed, because they are included in min_cpus.
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

-- Returns the time limit of a job in minutes.
local function limit(job, partition)
  local minutes = job.time_limit
  if minutes == nil or minutes == NO_VAL then minutes = number_in(partition.default_time) or partition.max_time end
  return math.min(math.max(minutes or YEAR, 1), YEAR)
end

local function points(job, partition)
  return BASE - (LIMIT * math.log(limit(job, partition)) + SHARE * math.log(share(job, partition))) / math.log(10)
end

-- Slurm does not check the factor. If it was negative or too large, it would be changed to a different number.
local function within(factor)
  return math.min(math.max(math.floor(factor + 0.5), 1), 2000000)
end

local function order_new(job, partitions)
  local partition = ordered(job.partition, partitions)
  if partition ~= nil then job.site_factor = within(points(job, partition)) end
end

-- The owner of a waiting job may change its limit, CPUs, nodes and partition. If there is an error in another field, Slurm may
-- already have updated some fields, but not the factor. So the factor in the record may be wrong.
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
    -- The factor also depends on values that are not in the record, such as --exclusive or the wait in pending.sh. This difference
    -- is kept, but it is at most the number of points for the whole wait.
    if record.site_factor ~= within(own) then
      local waited = math.max(os.time() - (record.submit_time or os.time()), 0)
      local most = WAIT > 0 and factor + WAIT * math.log(1 + waited / OFFSET) / math.log(10) or factor
      factor = math.min(record.site_factor + math.floor(factor - own), most)
    end
  end
  job.site_factor = within(factor)
end

-- Runs one of the two functions above. Errors are not passed to Slurm, because Slurm 26.05 and later would reject the job. Instead
-- the job has no order, and the error is written to slurmctld.log.
local function safely(order, ...)
  local done, why = pcall(order, ...)
  if not done then pcall(slurm.log_error, "job_submit.lua: a job has no order: %s", tostring(why)) end
end

-- The functions of the site's own script, if this file was loaded by it. Their return values and errors are passed to Slurm, so it
-- treats the job as without this file. Up to 25.11, it accepts a job after an error, which then also has an order.
local own_submit, own_modify = slurm_job_submit, slurm_job_modify

function slurm_job_submit(job, partitions, ...)
  local done, answer = true, slurm.SUCCESS
  if own_submit ~= nil then done, answer = pcall(own_submit, job, partitions, ...) end
  safely(order_new, job, partitions)
  if not done then error(answer, 0) end
  return answer
end

function slurm_job_modify(job, record, partitions, ...)
  local done, answer = true, slurm.SUCCESS
  if own_modify ~= nil then done, answer = pcall(own_modify, job, record, partitions, ...) end
  safely(order_again, job, record, partitions)
  if not done then error(answer, 0) end
  return answer
end

return slurm.SUCCESS
