#!/bin/sh
# Sets the site factor of the waiting jobs in the ordered partitions, in the same way as job_submit.lua for new jobs. It must be run
# by an operator, the SlurmUser or root.
#   pending.sh          update all waiting jobs; use this before and after job_submit.lua is installed
#   pending.sh moved    only update jobs whose points differ by at least 15 (6 % of the limit), and at most 500 of them, where the
#                       largest differences are first; this is used by order.timer
#   pending.sh look     print the new points without changing anything: id, partition, minutes, share, current points, new points
#   pending.sh recent   print the same for the ten jobs that were submitted last, including jobs that are running or have ended
#   pending.sh back     remove the site factors
# The numbers are read from job_submit.lua in the same folder, or from the file in $LUA.
set -eu
mode=${1:-all}
case $mode in all | moved | look | recent | back) ;; *) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p;}' "$0" >&2; exit 2 ;; esac
lua=${LUA:-$(dirname "$0")/job_submit.lua}
number() { sed -n "s/^local $1 = \(-\{0,1\}[0-9][0-9.]*\)\$/\1/p" "$lua"; }
partitions=$(sed -n 's/^local ORDERED = "\([A-Za-z0-9_,.-]*\)"$/\1/p' "$lua")
for name in LIMIT SHARE WAIT OFFSET BASE CPU GPU WHOLE_NODES PROMISE; do
    value=$(number $name)
    [ -n "$value" ] || { echo "pending.sh: $lua has no line \`local $name = NUMBER\`" >&2; exit 2; }
    eval "$name=$value"
done
[ -n "$partitions" ] || { echo "pending.sh: $lua has no line \`local ORDERED = \"PARTITION\"\`" >&2; exit 2; }

config=$(scontrol show config)
value_of() { printf '%s\n' "$config" | sed -n "s/^$1 *= *//p"; }
# If Slurm uses the age factor, the wait is not included here. The weight of the age is ignored if there is no slurmdbd.
case $(value_of AccountingStorageType):$(value_of PriorityWeightAge) in
    *slurmdbd:0) ;;
    *slurmdbd:*) WAIT=0 ;;
esac

# All columns have the same width, so that no text can look like another column.
columns=$(printf '%s:60,' JobID Partition TimeLimit NumCPUs NumNodes OverSubscribe AccrueTime \
    tres-per-job tres-per-node tres-per-socket tres-per-task cpus-per-tres NumTasks)
case $mode in
    recent) queue() { squeue -h -a -t all -S -i -p "$partitions" -O "$columns" | head -n 10; } ;;
    *) queue() { squeue -h -a -t PD -S i -p "$partitions" -O "$columns"; } ;;
esac
export SLURM_TIME_FORMAT=%s

# All updates are made by one process. It is not an error if a job has started or ended in the meantime.
give() {
    updates=$(cat)
    [ -n "$updates" ] || { echo "no jobs were changed"; return; }
    faults=$(printf '%s\n' "$updates" | scontrol 2>&1 >/dev/null) || true
    [ -z "$faults" ] || printf '%s\n' "$faults" | head -n 5 >&2
    case $faults in *denied*) echo "pending.sh: only operators, the SlurmUser and root can change site factors" >&2; exit 1 ;; esac
    echo "$(printf '%s\n' "$updates" | wc -l) jobs were changed"
}

{
    for name in $(printf %s "$partitions" | tr , ' '); do scontrol -o show partition "$name"; done
    sprio -h -o '%i %S' | sed 's/^/site /'
    queue | sed 's/^/job  /'
} | awk -v mode="$mode" -v ordered="$partitions" -v now="$(date +%s)" -v LIMIT="$LIMIT" -v SHARE="$SHARE" -v WAIT="$WAIT" \
    -v OFFSET="$OFFSET" -v BASE="$BASE" -v CPU="$CPU" -v GPU="$GPU" -v WHOLE_NODES="$WHOLE_NODES" -v PROMISE="$PROMISE" '
    function max(a, b) { return a + 0 > b + 0 ? a + 0 : b + 0 }
    function up(x) { return x == int(x) ? x : int(x) + 1 }
    function column(k, text) { text = substr($0, 6 + 60 * (k - 1), 60); gsub(/^ +| +$/, "", text); return text }
    function field(name, text) {
        return match(" " $0, " " name "=[^ ]*") ? substr(" " $0, RSTART + length(name) + 2, RLENGTH - length(name) - 2) : ""
    }
    # Converts 1-02:03:04, 02:03:04 or 03:04 to minutes.
    function minutes(text, days, parts, n) {
        if (text !~ /^[0-9:-]+$/) return 525600
        days = 0
        if (split(text, parts, "-") == 2) { days = parts[1]; text = parts[2] }
        n = split(text, parts, ":")
        return days * 1440 + (n == 3 ? parts[1] * 60 + parts[2] + parts[3] / 60 : n == 2 ? parts[1] + parts[2] / 60 : parts[1])
    }
    function gpus(text, items, n, i, sum, count) {
        n = split(text, items, ",")
        for (i = 1; i <= n; i++) if (index(items[i], "gpu")) {
            count = items[i]
            sum += match(count, /[:=][0-9]+$/) ? substr(count, RSTART + 1) : 1
        }
        return sum + 0
    }
    # This function is the same as in job_submit.lua.
    function share(partition, cpus, nodes, devices, each) {
        each = total_cpus[partition] / max(total_nodes[partition], 1)
        if (each > 0 && (column(6) == "NO" || exclusive[partition] || WHOLE_NODES)) {
            nodes = max(nodes, up(cpus / each))
            cpus = nodes * each
        }
        devices = max(max(gpus(column(8)), gpus(column(9)) * nodes), max(gpus(column(10)) * nodes, gpus(column(11)) * max(column(13), 1)))
        cpus = max(max(cpus, nodes), devices * gpus(column(12)))
        return max(max(CPU * cpus, GPU * devices), 1)
    }
    function partition_of(names, own, of_job, n, m, i, j) {
        n = split(ordered, own, ","); m = split(names, of_job, ",")
        for (i = 1; i <= n; i++) for (j = 1; j <= m; j++) if (own[i] == of_job[j]) return own[i]
    }
    /^PartitionName=/ {
        name = field("PartitionName")
        total_cpus[name] = field("TotalCPUs"); total_nodes[name] = field("TotalNodes")
        exclusive[name] = field("OverSubscribe") == "EXCLUSIVE"
        next
    }
    /^site / { site[$2] = $3; next }
    /^job  / {
        id = column(1)
        if (mode == "back") { if (!(id in site) || site[id] != 0) print "update jobid=" id " sitefactor=0"; next }
        # The limit is at least a minute and at most a year.
        limit = max(minutes(column(3)), 1); if (limit > 525600) limit = 525600
        partition = partition_of(column(2))
        part = share(partition, max(column(4), 1), max(column(5), 1))
        waited = column(7) ~ /^[0-9]+$/ ? max(now - column(7), 0) : 0
        points = BASE - (LIMIT * log(limit) + SHARE * log(part)) / log(10)
        if (WAIT > 0) points += WAIT * log(1 + waited / OFFSET) / log(10)
        # These jobs are before all others, and the job that has waited for the longest time is first.
        if (PROMISE > 0 && waited > PROMISE) points = 1000000 + (waited - PROMISE) / 60
        points = int(points + .5); if (points < 1) points = 1; if (points > 2000000) points = 2000000
        if (mode == "look" || mode == "recent") {
            print id, partition, limit, part, (id in site) ? site[id] : "-", points
        } else {
            off = (id in site) ? points - site[id] : points
            if (off < 0) off = -off
            if (mode == "all" ? off > 0 : (id in site) && off >= 15) print off, "update jobid=" id " sitefactor=" points
        }
    }' | case $mode in
        look | recent) cat ;;
        moved) sort -rn | head -n 500 | cut -d ' ' -f 2- | give ;;
        all) cut -d ' ' -f 2- | give ;;
        back) give ;;
    esac
