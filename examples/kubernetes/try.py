#!/usr/bin/env python3
"""Runs the bridge against the toy API server: pods of three types, faults, and the bridge killed in the middle.

    SYNTH=path/of/synth python3 try.py [--seed 1] [--kills 2] [--pods 40]

Policies of two families at once, each with a server of its own. It checks by what the server saw that all pods ended, that
released pods never took more than the policy's capacity, and that no gate was ever added. Exit code 0 where all of it holds,
else 1.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import server

HERE = Path(__file__).resolve().parent
SYNTH = os.environ.get("SYNTH", "synth")
WORKLOAD = """
kind: multiresource
source: the example on Kubernetes
time_unit: s
server:
  capacity: {cpu: 8, memory: 16, gpu: 2}
jobs:
  - {name: small, demand: {cpu: 1, memory: 2, gpu: 0}, arrival_rate: 3, mean_size: .6}
  - {name: wide, demand: {cpu: 8, memory: 8, gpu: 0}, arrival_rate: .3, mean_size: .5}
  - {name: gpu, demand: {cpu: 2, memory: 4, gpu: 1}, arrival_rate: .8, mean_size: .6}
"""
CAPACITY = (8, 16, 2)
# Per type its demand, and what a pod of it asks for: less, where the cheapest type that covers it is still this one.
TYPES = {"small": ((1, 2, 0), [{"cpu": "1", "memory": "2Gi"}, {"cpu": "500m", "memory": "1500Mi"}, {"cpu": "250m"}]),
         "wide": ((8, 8, 0), [{"cpu": "8", "memory": "8Gi"}, {"cpu": "5500m", "memory": "1e9"}]),
         "gpu": ((2, 4, 1), [{"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "1"}, {"nvidia.com/gpu": 1}])}
FAULTS = {"conflict": 0.2, "busy": 0.1, "lost": 0.1, "gone": 0.03, "drop": 0.03, "latency": 0.05, "watch": 1.5}


class Trial:
    def __init__(self, policy, chance):
        self.name, self.chance, self.policy, self.bridge, self.types = Path(policy).stem, chance, policy, None, {}
        self.server, self.cluster = server.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.pods = self.url + "/api/v1/namespaces/batch/pods"
        self.said = tempfile.TemporaryFile("w+")

    def ask(self, method, url, body=None, kind="application/json"):
        request = urllib.request.Request(url, json.dumps(body).encode() if body else None, {"Content-Type": kind}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def start(self):
        command = [sys.executable, str(HERE / "bridge.py"), self.policy, "--server", self.url, "--namespace", "batch"]
        path = f"{Path(SYNTH).resolve().parent}:{os.environ['PATH']}" if "/" in SYNTH else os.environ["PATH"]
        self.bridge = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.said, env={**os.environ, "PATH": path})

    def create(self, own, held=True, **metadata):
        name = f"{own}-{len(self.types)}"
        asked = self.chance.choice(TYPES[own][1])
        seconds = self.chance.expovariate(1 / 0.5) + 0.05
        annotations = {"toy/seconds": f"{seconds:.3f}"} | ({"toy/fails": "yes"} if self.chance.random() < 0.1 else {})
        pod = {"metadata": {"name": name, "labels": {"synth.example/policy": "try"}, "annotations": annotations, **metadata},
               "spec": {"containers": [{"name": "main", "resources": {"requests": asked}}]}}
        if held:
            pod["spec"]["schedulingGates"] = [{"name": "synth.example/hold"}]
        self.types[name] = own
        return self.ask("POST", self.pods, pod)

    def log(self):
        return self.ask("GET", self.url + "/seen")[1]

    def unfinished(self):
        last = {name: what for _, what, name in self.log()["log"]}
        return [name for name in self.types if last.get(name) not in ("Succeeded", "Failed", "deleted")]

    def run(self, pods, kills):
        """Returns what is wrong."""
        self.ask("PUT", self.url + "/faults", FAULTS)
        moments = sorted(self.chance.sample(range(1, pods), kills))
        # One ran before the bridge did, and some waited.
        self.create("small", held=False)
        begin, withdrawn = time.monotonic(), None
        while len(self.types) < pods:
            if len(self.types) == 4:
                self.start()
            if self.bridge and moments and len(self.types) >= moments[0]:
                moments.pop(0)
                time.sleep(self.chance.uniform(0, 0.3))
                self.bridge.kill()
                self.bridge.wait()
                self.start()
            own = self.chance.choices(list(TYPES), [3, 0.5, 0.8])[0]
            self.create(own)
            if len(self.types) == 20:  # of those that wait, one is deleted
                withdrawn = self.withdraw()
            time.sleep(self.chance.expovariate(1 / 0.08))
        while (left := self.unfinished()) and time.monotonic() < begin + 30 and self.bridge.poll() is None:
            time.sleep(0.1)
        seen, wrong = self.log(), []
        gate = {"spec": {"schedulingGates": [{"name": "synth.example/hold"}]}}
        self.ask("PUT", self.url + "/faults", server.FAULTS)
        status, _ = self.ask("PATCH", f"{self.pods}/small-0", gate, "application/strategic-merge-patch+json")
        if status != 422:
            wrong.append(f"the server lets a gate be added: {status}")
        if self.bridge.poll() is not None:
            wrong.append(f"the bridge ended: {self.bridge.returncode}")
        self.bridge.send_signal(signal.SIGTERM)
        if self.bridge.wait(5) != 0:
            wrong.append(f"the bridge did not end well: {self.bridge.returncode}")
        if left:
            wrong.append(f"after 30 s not ended: {left}")
        if seen["gates refused"] or seen["unschedulable"]:
            wrong.append(f"gates added: {seen['gates refused']}, released without room on the node: {seen['unschedulable']}")
        peak = self.peak(seen["log"])
        if any(most > capacity for most, capacity in zip(peak, CAPACITY)):
            wrong.append(f"released pods took {peak} of {CAPACITY}")
        print(f"{self.name}: {len(self.types)} pods in {time.monotonic() - begin:.1f} s, {kills} kills, {seen['faults']} "
              f"faults, {seen['patches']} patches, most at once {peak} of {CAPACITY}, deleted while it waited: {withdrawn}")
        if wrong:
            self.said.seek(0)
            print(*self.said.read().splitlines()[-80:], *wrong, sep="\n")
        return wrong

    def withdraw(self):
        for _ in range(50):
            last = {name: what for _, what, name in self.log()["log"]}
            for name in [name for name, what in last.items() if what == "held"]:
                if self.ask("DELETE", f"{self.pods}/{name}")[0] == 200:
                    return name
        return None

    def peak(self, log):
        """The most of each resource that released pods had at once, by the demands of their types."""
        now, peak = set(), [0, 0, 0]
        for _, what, name in log:
            (now.add if what in ("released", "Running") else now.discard)(name)
            amounts = map(sum, zip((0, 0, 0), *(TYPES[self.types[name]][0] for name in now)))
            peak = [max(pair) for pair in zip(peak, amounts)]
        return peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--pods", type=int, default=40)
    parser.add_argument("--kills", type=int, default=2)
    own = parser.parse_args()
    random.seed(own.seed)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor() as pool:
        workload = Path(folder) / "workload.yaml"
        workload.write_text(WORKLOAD, encoding="utf-8")

        def trial(family):
            policy = str(Path(folder) / f"{family}.json")
            words = ["--preemption", "none", "--family", family, "--budget", "1e6", "--output", policy]
            subprocess.run([SYNTH, "--quiet", "--workload", str(workload), *words], check=True, stdout=subprocess.DEVNULL)
            own_trial = Trial(policy, random.Random(own.seed))
            try:
                return own_trial.run(own.pods, own.kills)
            finally:  # no bridge outlives its server, whatever went wrong
                if own_trial.bridge:
                    own_trial.bridge.kill()

        # msr has clocks, and lets jobs fill the room that its schedule leaves, by First-Fit.
        wrong = [*pool.map(trial, ("quickswap", "msr"))]
    sys.exit(1 if any(wrong) else 0)


if __name__ == "__main__":
    main()
