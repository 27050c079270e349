#!/bin/sh
# A comparison in N shards as an array of Slurm's, a task a shard, and behind it a job that merges.
#   slurm.sh N DIR --workload models/section7.yaml --policies first-fit,fcfs --loads .5,.7,.9
# All nodes see DIR and this folder, and have `synth`. A shard that was cut short goes on where it was:
#   sbatch --array=I DIR/shard.sbatch, and once it is done: sbatch DIR/merge.sbatch
set -eu
shards=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
shift 2
quoted=
for word; do
  quoted="$quoted '$(printf %s "$word" | sed "s/'/'\\\\''/g")'"
done
cat > "$dir/shard.sbatch" <<END
#!/bin/sh
#SBATCH --job-name=synth-compare
#SBATCH --array=1-$shards
#SBATCH --cpus-per-task=1
#SBATCH --requeue
set -eu
cd '$PWD'
export RAYON_NUM_THREADS=1 # a core a shard
i=\$SLURM_ARRAY_TASK_ID
exec synth compare$quoted --quiet --resume --shard "\$i/$shards" --output "$dir/part-\$i.jsonl"
END
cat > "$dir/merge.sbatch" <<END
#!/bin/sh
#SBATCH --job-name=synth-merge
set -eu
exec synth merge "$dir"/part-*.jsonl --output "$dir/comparison.json" --html "$dir/comparison.html"
END
array=$(sbatch --parsable "$dir/shard.sbatch")
sbatch --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes "$dir/merge.sbatch"
