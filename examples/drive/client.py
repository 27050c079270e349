#!/usr/bin/env python3
"""A scheduler in Python that lets a policy decide: `synth drive` as a child, one JSON object a line each way.

    python3 examples/drive/client.py POLICY.json

The cluster here is a toy, ten times as fast as its jobs say: jobs of the policy's types come at random and "run" for a
while. Yours comes in where it says HERE.
"""
import heapq
import json
import random
import subprocess
import sys
import time

SPEED, JOBS = 10.0, 40


class Policy:
    """Starts what the policy starts, and calls `run(job)` for each job."""

    def __init__(self, path, run):
        command = ["synth", "drive", path]
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.run, self.wake = run, None

    def tell(self, now, **event):
        print(json.dumps({"t": now, **event}), file=self.child.stdin, flush=True)
        answer = json.loads(self.child.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        self.wake = answer.get("wake")
        for job in answer["start"]:  # in a fleet: [job, server, …]
            self.run(job, now)


def main(path):
    with open(path) as file:
        types = json.load(file)["workload"]["jobs"]
    begin, ends, sizes, waiting = time.monotonic(), [], {}, {}

    def clock():
        return (time.monotonic() - begin) * SPEED

    def run(job, now):  # HERE: start the job on your cluster, and tell its end as `leave`
        print(f"{now:8.2f} start {job} after {now - waiting.pop(job):.2f}")
        heapq.heappush(ends, (now + sizes[job], job))

    policy = Policy(path, run)
    arrival, came = 0.0, 0
    while came < JOBS or ends or waiting:
        due = [ends[0][0]] if ends else []
        due += [arrival] if came < JOBS else []
        due += [policy.wake] if policy.wake is not None else []
        time.sleep(max(0.0, min(due) - clock()) / SPEED)
        now = clock()
        if came < JOBS and arrival <= now:  # HERE: a job was submitted
            own = random.choices(types, [t["arrivals"].get("rate", 1.0) for t in types])[0]
            job, came = f"{own['name']}/{came}", came + 1
            waiting[job], sizes[job] = now, random.expovariate(1 / own["size"].get("mean", 1.0))
            arrival += random.expovariate(sum(t["arrival_rate"] for t in types))
            policy.tell(now, arrive=own["name"], job=job)
        while ends and ends[0][0] <= now:  # HERE: a job has ended
            policy.tell(now, leave=heapq.heappop(ends)[1])
        if policy.wake is not None and policy.wake <= now:
            policy.tell(now)


if __name__ == "__main__":
    main(sys.argv[1])
