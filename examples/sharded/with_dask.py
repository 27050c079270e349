"""A comparison in N shards by Dask: with_dask.py N DIR --workload W --policies P,P --loads ρ,ρ
Workers see DIR and have `synth`; the variable SCHEDULER names a cluster, without it one is started here."""
import os, subprocess, sys
from dask.distributed import Client

def shard(i, shards, folder, question):
    part = f"{folder}/part-{i}.jsonl"  # a shard that is run again goes on where it was
    typed = ["synth", "compare", *question, "--quiet", "--resume", "--shard", f"{i}/{shards}", "--output", part]
    subprocess.run(typed, check=True, env={**os.environ, "RAYON_NUM_THREADS": "1"})
    return part

if __name__ == "__main__":
    shards, folder, question = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
    os.makedirs(folder, exist_ok=True)
    with Client(os.environ.get("SCHEDULER")) as client:
        parts = client.gather([client.submit(shard, i, shards, folder, question, retries=2) for i in range(1, shards + 1)])
    subprocess.run(["synth", "merge", *parts, "--output", f"{folder}/comparison.json", "--html", f"{folder}/comparison.html"], check=True)
