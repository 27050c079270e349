#!/bin/sh
# A comparison in N shards by GNU parallel, on the cores of this machine; its --sshloginfile takes others.
#   parallel.sh N DIR --workload models/section7.yaml --policies first-fit,fcfs --loads .5,.7,.9
# A shard that fails is run again, and goes on where it was; typed again, only what is not done runs.
set -eu
shards=$1 dir=$2
shift 2
mkdir -p "$dir"
export RAYON_NUM_THREADS=1 # a core a shard
seq "$shards" | parallel --will-cite --quote --retries 3 \
  synth compare "$@" --quiet --resume --shard "{}/$shards" --output "$dir/part-{}.jsonl"
synth merge "$dir"/part-*.jsonl --output "$dir/comparison.json" --html "$dir/comparison.html"
