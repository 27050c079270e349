#!/usr/bin/env python3
"""A policy that decides when pods of Kubernetes start: `synth drive` as a child, a watch on pods, and a scheduling gate.

    python3 bridge.py POLICY.json --namespace batch [--server http://127.0.0.1:8001]

Pods that are to wait are created with the gate `synth.example/hold` and a label that the selector finds. What the policy
starts loses the gate, by a patch; kube-scheduler places it. Nothing is stored: after a restart, pods without a gate are
adopted and pods with it arrive, oldest first. README.md has the rest, and says what was not tried.
"""
import argparse
import json
import operator
import os
import queue
import random
import re
import signal
import subprocess
import sys
import time

from api import ACCOUNT, PROBLEMS, Api, Watcher, quantity, requests, say

GATE, TYPE = "synth.example/hold", "synth.example/type"
SECONDS = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86400}
STOPPING = {"max-weight", "max-weight-setup", "server-filling", "setup_rate"}
DONE = ("Succeeded", "Failed")


class Policy:
    """The types of a policy, and `synth drive` with it."""

    def __init__(self, path, sources, seed):
        try:
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
        except (OSError, ValueError) as problem:
            sys.exit(f"{path} is no policy: {problem}")
        if document.get("kind") != "multiresource" or [s["count"] for s in document["workload"]["servers"]] != [1]:
            sys.exit(f"{path} is not a policy of one server")
        if stops(document["policy"]):
            sys.exit(f"{path} stops jobs that run, which pods do not survive: `synth --workload FILE --preemption none`")
        workload, self.begin = document["workload"], time.monotonic()
        if workload["time_unit"] not in SECONDS:
            sys.exit(f"{path} counts time in {workload['time_unit']}: write the workload in s, min, h or d")
        self.second, self.sources = SECONDS[workload["time_unit"]], sources
        self.resources = workload["resources"]
        for name in set(self.resources) - set(sources):
            sys.exit(f"what is `{name}` of {path} in Kubernetes? Say --resource {name}=NAME, or {name}=NAME/UNIT")
        self.types = {t["name"]: t["demand"] for t in workload["types"]}
        prices = document["evidence"]["servers"][0].get("resource_prices") or [0.0] * len(self.resources)
        capacity = workload["servers"][0]["capacity"]

        def cost(own):  # by the certificate's prices, of whole units; then by the share of the server
            return sum(map(operator.mul, prices, own["units"])), sum(map(operator.truediv, own["demand"], capacity))

        self.cheapest = [t["name"] for t in sorted(workload["types"], key=cost)]
        command = ["synth", "drive", path, "--seed", str(seed)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        try:
            self.child = subprocess.Popen(command, start_new_session=True, **pipes)  # Ctrl-C ends the bridge, which ends it
        except OSError as problem:
            sys.exit(f"`synth` is to be in PATH: {problem}")

    def amounts(self, pod):
        asked = requests(pod["spec"])
        return [asked.get(name, 0.0) / unit for name, unit in (self.sources[r] for r in self.resources)]

    def type_of(self, pod):
        """What its label or annotation says, or the cheapest type, if that covers what the pod asks for."""
        metadata, asked = pod["metadata"], self.amounts(pod)
        named = (metadata.get("labels") or {}).get(TYPE) or (metadata.get("annotations") or {}).get(TYPE)
        covers = [t for t in self.cheapest if all(a <= d * (1 + 1e-9) for a, d in zip(asked, self.types[t]))]
        return next((t for t in covers if named in (None, t)), None)

    def now(self):
        return (time.monotonic() - self.begin) / self.second

    def tell(self, **event):
        try:
            print(json.dumps({"t": self.now(), **event}), file=self.child.stdin, flush=True)
            answer = json.loads(self.child.stdout.readline())
        except PROBLEMS as problem:
            sys.exit(f"`synth drive` has ended: {problem!r}")
        if "error" in answer or answer["stop"]:
            sys.exit(f"`synth drive` says {answer} to {event}")
        return answer


def stops(rule):
    """Whether some part of a rule stops jobs."""
    if isinstance(rule, list):
        return any(map(stops, rule))
    if not isinstance(rule, dict):
        return False
    own = {name for name, value in rule.items() if value is not None}
    return bool(own & STOPPING) or rule.get("preemption", "none") != "none" or any(map(stops, rule.values()))


class Bridge:
    """What is known of each pod, by uid: its name, whether it is `waiting`, `started` or `other`, and its type. `started`
    is what the policy started or adopted, `other` what runs without having asked: its room is occupied.
    """

    def __init__(self, api, path, policy):
        self.api, self.path, self.policy = api, path, policy
        self.known, self.warned = {}, set()
        self.others = {}  # by uid: what they take
        self.gates = {}   # by uid: the names of those that have started and whose gate is to be removed, in order
        self.begun, self.wake, self.pause, self.retry = False, None, 0.1, 0.0

    def tell(self, **event):
        answer = self.policy.tell(**event)
        self.wake = answer.get("wake")
        for uid in answer["start"]:
            name, _, own = self.known[uid]
            self.known[uid] = (name, "started", own)
            self.gates[uid] = name
            say(f"{self.policy.now():.3f} start {name} ({own})")

    def listed(self, pods):
        """All pods as they are now. First what is gone, then what runs, then what waits in the order in which it came."""
        here = {pod["metadata"]["uid"] for pod in pods}
        for uid in [uid for uid in self.known if uid not in here]:
            self.gone(uid)
        came = operator.itemgetter("creationTimestamp", "name")
        pods.sort(key=lambda pod: (self.state(pod) == "waiting", *came(pod["metadata"])))
        if not self.begun:  # the only moment to adopt
            for pod in pods:
                own = self.policy.type_of(pod)
                if self.state(pod) == "other" and own:
                    self.known[pod["metadata"]["uid"]] = (pod["metadata"]["name"], "started", own)
                    self.tell(adopt=own, job=pod["metadata"]["uid"])
        self.begun = True
        for pod in pods:
            self.see(pod)

    def state(self, pod):
        gates = [gate["name"] for gate in pod["spec"].get("schedulingGates") or []]
        if pod["status"].get("phase") in DONE or gates and pod["metadata"].get("deletionTimestamp"):
            return "gone"
        # A pod that others hold too could not start: it comes when ours is its last gate.
        return "waiting" if gates == [GATE] else "out" if gates else "other"

    def see(self, pod):
        """A pod is new, or has changed. A gate that was taken away never comes back, so what has started has started,
        whatever an older event says."""
        uid, name, state = pod["metadata"]["uid"], pod["metadata"]["name"], self.state(pod)
        _, was, had = self.known.get(uid, (name, "out", None))
        own = self.policy.type_of(pod) if state in ("waiting", "other") else None
        if state == "gone":
            return self.gone(uid)
        if was in ("started", "other") or (was, had) == (state, own):
            return None
        if was == "waiting":
            self.gone(uid)
        if state == "other":
            self.known[uid] = (name, "other", own)
            self.others[uid] = self.policy.types.get(own) or self.policy.amounts(pod)
            self.occupy(f"{name} was not started by the policy: its room is occupied")
        elif state == "waiting" and own:
            self.known[uid] = (name, "waiting", own)
            self.tell(arrive=own, job=uid)
        elif state == "waiting" and uid not in self.warned:
            self.warned.add(uid)
            say(f"{name} stays held: its requests, or its {TYPE}, are of no type of the policy")
        return None

    def gone(self, uid):
        _, was, _ = self.known.pop(uid, (None, "out", None))
        self.gates.pop(uid, None)
        self.warned.discard(uid)
        if was == "waiting":
            self.tell(withdraw=uid)
        elif was == "started":
            self.tell(leave=uid)
        elif self.others.pop(uid, None):
            self.occupy("")

    def occupy(self, why):
        if why:
            say(why)
        amounts = map(sum, zip(*self.others.values())) if self.others else [0.0] * len(self.policy.resources)
        self.tell(occupy=dict(zip(self.policy.resources, amounts)))

    def release(self):
        """Takes the gate of one pod that has started away; one that fails is tried again, for its room is taken already.

        A strategic merge patch, for it names the gate: a JSON patch would name its place in the list, which is wrong once
        another gate was removed. It needs no resourceVersion, for a pod whose gate is gone already is left as it is; so
        writes of its status by others are no conflict. The uid keeps it from a later pod of the same name (422).
        """
        uid, name = next(iter(self.gates.items()))
        gate = {"spec": {"schedulingGates": [{"$patch": "delete", "name": GATE}]}, "metadata": {"uid": uid}}
        try:
            kind = "application/strategic-merge-patch+json"
            status, answer = self.api.ask("PATCH", f"{self.path}/{name}", body=gate, content=kind)
            if status in (409, 422):
                say(f"{name}: {status} {answer.get('message')}; it is read again")
                status, answer = self.api.ask("GET", f"{self.path}/{name}")
                held = status == 200 and answer["metadata"]["uid"] == uid and self.state(answer) == "waiting"
                status = 409 if held else status
        except PROBLEMS as problem:
            status, answer = 0, {"message": repr(problem)}
        del self.gates[uid]
        if status in (200, 404):  # 404: the watch tells that it is gone
            self.pause, self.retry = 0.1, 0.0
            return
        self.gates[uid] = name  # behind the others
        self.retry = time.monotonic() + self.pause * random.uniform(0.5, 1)
        self.pause = min(2 * self.pause, 10.0)
        say(f"the gate of {name} is still there: {status} {answer.get('message')}")

    def run(self, inbox):
        while True:
            due = [self.policy.begin + self.wake * self.policy.second] if self.wake is not None else []
            due += [self.retry] if self.gates else []
            wait = min(max(0.0, min(due) - time.monotonic()), 3600.0) if due else None
            try:
                kind, seen = inbox.get(timeout=wait)
                if kind == "LIST":
                    self.listed(seen)
                elif kind == "DELETED":
                    self.gone(seen["metadata"]["uid"])
                else:
                    self.see(seen)
            except queue.Empty:
                if self.wake is not None and self.wake <= self.policy.now():
                    self.tell()
                if self.gates and self.retry <= time.monotonic():
                    self.release()


def main():
    parser = argparse.ArgumentParser(description="Lets a policy of synth decide when pods start.")
    parser.add_argument("policy")
    parser.add_argument("--namespace", help="default: the bridge's own")
    parser.add_argument("--selector", default="synth.example/policy", help="labels of the pods (default: %(default)s)")
    parser.add_argument("--server", help="URL of the API server; default: as a pod of the cluster")
    parser.add_argument("--token-file")
    parser.add_argument("--ca-file")
    parser.add_argument("--resource", action="append", default=[], metavar="OURS=THEIRS[/UNIT]",
                        help="default: cpu=cpu, memory=memory/1Gi, gpu=nvidia.com/gpu/1")
    parser.add_argument("--seed", type=int, default=1)
    own = parser.parse_args()
    sources = {"cpu": ("cpu", 1.0), "memory": ("memory", 1024.0**3), "gpu": ("nvidia.com/gpu", 1.0)}
    for words in own.resource:
        ours, _, theirs = words.partition("=")
        name, unit = re.fullmatch(r"(.+?)(?:/(\d+(?:[kMGTPE]|[KMGTPE]i)?))?", theirs).groups()
        sources[ours] = (name, quantity(unit or 1))
    if not own.namespace and not os.path.exists(ACCOUNT + "namespace"):
        sys.exit("which namespace? Give --namespace")
    namespace = own.namespace or open(ACCOUNT + "namespace", encoding="utf-8").read().strip()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # all stays as it is
    api = Api(own.server, own.token_file, own.ca_file)
    path, inbox = f"/api/v1/namespaces/{namespace}/pods", queue.SimpleQueue()
    bridge = Bridge(api, path, Policy(own.policy, sources, own.seed))
    Watcher(api, path, own.selector, inbox).start()
    bridge.run(inbox)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(0)
