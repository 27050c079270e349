#!/bin/sh
# This script checks job_submit.lua before it is installed, and does not change anything. It reports an error if Slurm cannot load
# job_submit.lua, and lists the options of slurm.conf that must be changed. It also prints the points of the last ten jobs. If the
# exit code is not 0, do not install job_submit.lua. The exit code is 0 if only slurm.conf has to be changed.
set -eu
cd "$(dirname "$0")"
lua=${1:-job_submit.lua}
partitions=$(sed -n 's/^local ORDERED = "\([A-Za-z0-9_,.-]*\)"$/\1/p' "$lua")
wrong=0
first_of() { for program; do if command -v "$program"; then return; fi; done; return 1; }
say() { printf '%s\n' "$*"; }

compiler=$(first_of luac luac5.1 luac5.2 luac5.3 luac5.4) || {
    say "luac was not found. It is needed to check whether $lua can be loaded, so install it first (Debian: lua5.1)"; exit 1; }
"$compiler" -p "$lua" || { say "Slurm would not load $lua, and slurmctld would exit at its start"; exit 1; }

# If the script fails at run time, the job has no order, and the error is only written to slurmctld.log. So we run it here.
if interpreter=$(first_of lua lua5.1 lua5.2 lua5.3 lua5.4); then
    "$interpreter" - "$lua" "$partitions" <<'END' || wrong=1
local nothing = function() end
local failure
slurm = setmetatable({ SUCCESS = 0, ERROR = -1, NO_VAL = 4294967294, NO_VAL16 = 65534,
  log_error = function(format, ...) failure = string.format(format, ...) end }, { __index = function() return nothing end })
dofile(arg[1])
local names, first = arg[2], string.match(arg[2], "[^,]+")
local none, none16 = 4294967294, 65534
local part = { total_cpus = 40, total_nodes = 2, default_time = none, max_time = 4294967295, flag_default = 1, max_share = 1 }
local list = setmetatable({}, { __index = function() return part end })
local function job(more)
  local plain = { time_limit = none, min_cpus = none, min_nodes = none, num_tasks = none, shared = none16, cpus_per_task = none16 }
  for name, value in pairs(more) do plain[name] = value end
  return plain
end
local jobs = { job {}, job { partition = first, time_limit = 60, min_cpus = 8 },
  job { partition = names .. ",x", time_limit = 4294967295, shared = 0, tres_per_node = "gres:gpu:2" } }
for number, new in ipairs(jobs) do
  slurm_job_submit(new, list, 1000)
  if failure then error(failure) end
  local factor = new.site_factor
  if factor == nil or factor < 1 or factor > 2e6 or factor ~= math.floor(factor) then
    error("job " .. number .. " got the site factor " .. tostring(factor) .. ", but a whole number from 1 to 2000000 is expected")
  end
  new.site_factor = none
  slurm_job_modify(new, { site_factor = factor, partition = first, time_limit = 10, min_cpus = 1, min_nodes = 1 }, list, 1000)
  if failure then error(failure) end
end
END
else
    say "lua was not found, so $lua was only parsed and not run"
fi

config=$(scontrol show config 2>&1) || {
    say "slurmctld cannot be reached, so only $lua was checked ($(printf '%s\n' "$config" | head -n 1)): run this on a host of the cluster"; exit 1; }
setting() { printf '%s\n' "$config" | sed -n "s/^$1 *= *//p"; }
[ "$(setting PriorityType)" = priority/multifactor ] ||
    say "slurm.conf: PriorityType is $(setting PriorityType), but must be priority/multifactor"
plugins=$(setting JobSubmitPlugins | tr -d ' ')
case ,$plugins, in
    *,lua,* | *,job_submit/lua,*) ;;
    ,, | ',(null),') say "slurm.conf: JobSubmitPlugins is not set: write JobSubmitPlugins=lua" ;;
    *) say "slurm.conf: JobSubmitPlugins must also contain lua: write JobSubmitPlugins=$plugins,lua" ;;
esac
grep -q '^local WHOLE_NODES = 0$' "$lua" && [ "$(setting SelectType)" = select/linear ] &&
    say "SelectType is select/linear: set WHOLE_NODES to 1 in $lua"
for name in $(printf %s "$partitions" | tr , ' '); do
    scontrol -o show partition "$name" >/dev/null || { say "there is no partition $name: use sinfo -s to list the partitions"; wrong=1; continue; }
    sinfo -h -p "$name" -N -O 'NodeList:60,CPUs:20,Gres:120' | sort -u | awk -v name="$name" -v lua="$lua" '
        { cpus += $2; while (match($3, /gpu[^,]*/)) { item = substr($3, RSTART, RLENGTH); $3 = substr($3, RSTART + RLENGTH)
          sub(/\(.*/, "", item); gpus += match(item, /:[0-9]+$/) ? substr(item, RSTART + 1) : 1 } }
        END { if (gpus) printf "%s has %d CPUs and %d GPUs: local GPU = %.4g in %s\n", name, cpus, gpus, cpus / gpus, lua }'
done
say "id, partition, minutes, share, current points, points in this order (jobs with more points are first):"
LUA=$lua sh ./pending.sh recent || wrong=1
exit $wrong
