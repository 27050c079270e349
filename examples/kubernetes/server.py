#!/usr/bin/env python3
"""A small API server for tests: pods with the shapes of Kubernetes, a toy scheduler and kubelet, and faults on request.

    python3 server.py [--port 8001] [--allocatable cpu=8,memory=16Gi,nvidia.com/gpu=2]

Lists in pages, watches (bookmarks, 410), POST, DELETE and the merge patches of /api/v1/namespaces/NAMESPACE/pods, without TLS
and accounts. A pod runs for the seconds in its annotation `toy/seconds`. PUT /faults sets probabilities and seconds (see
FAULTS), GET /seen tells what happened: tests judge by that, not by what the bridge says.
"""
import argparse
import copy
import json
import random
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from api import quantity, requests

HISTORY = 60  # versions that a watch can still begin at
FAULTS = {"conflict": 0.0,  # a PATCH is answered by 409
          "busy": 0.0,      # any request by 503
          "lost": 0.0,      # a PATCH is done, but the connection closes before the answer
          "gone": 0.0,      # a watch says 410 in place of an event
          "drop": 0.0,      # a watch breaks off in the middle of a line
          "latency": 0.0,   # a PATCH's answer takes up to so long [s]
          "watch": 5.0}     # a watch ends after so long [s]


class Refused(Exception):
    """Answered as a Status."""

    def __init__(self, code, reason, message):
        super().__init__(message)
        self.status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message,
                       "reason": reason, "code": code}


def gates(pod):
    return [gate["name"] for gate in pod["spec"].get("schedulingGates") or []]


def condition(pod, status, reason=None, message=None):
    own = {"type": "PodScheduled", "status": status, "reason": reason, "message": message}
    pod["status"]["conditions"] = [{name: value for name, value in own.items() if value}]


def merged(old, patch, strategic):
    """A merge patch (RFC 7386); a strategic one merges the list of gates by name."""
    if not isinstance(patch, dict):
        return patch
    new = dict(old) if isinstance(old, dict) else {}
    for name, value in patch.items():
        if value is None:
            new.pop(name, None)
        elif strategic and name == "schedulingGates":
            own = {gate["name"]: gate for gate in new.get(name) or []}
            for gate in value:
                if gate.pop("$patch", "merge") == "delete":
                    own.pop(gate["name"], None)
                else:
                    own[gate["name"]] = gate
            new[name] = list(own.values())
        else:
            new[name] = merged(new.get(name), value, strategic)
    return new


def selects(query, pod):
    """Whether the label selector, of `NAME` and `NAME=VALUE` with commas between, is met."""
    labels = (pod or {}).get("metadata", {}).get("labels") or {}
    words = [word.partition("=") for word in query.get("labelSelector", "").split(",") if word]
    return pod is not None and all(name in labels and (not eq or labels[name] == value) for name, eq, value in words)


def event(old, new, namespace, query):
    """What a watch is told of a change: a pod that the selector loses is deleted to it."""
    was, is_it = selects(query, old), selects(query, new)
    kind = "MODIFIED" if was and is_it else "ADDED" if is_it else "DELETED" if was else None
    own = kind and (new or old)
    return {"type": kind, "object": own} if own and own["metadata"]["namespace"] == namespace else None


class Cluster:
    def __init__(self, allocatable):
        self.allocatable, self.changed = allocatable, threading.Condition()
        self.version, self.pods, self.history = 1000, {}, []  # of the history: version, pod before, pod after
        self.faults, self.begin, self.pages = dict(FAULTS), time.monotonic(), {}
        self.seen = {"log": [], "unschedulable": 0, "gates refused": 0, "patches": 0, "faults": 0}

    def fault(self, name):
        strikes = random.random() < self.faults[name]
        self.seen["faults"] += strikes
        return strikes

    def write(self, key, new):
        """The one door of all changes; under the lock."""
        old = self.pods.pop(key, None)
        self.version += 1
        if new:
            new["metadata"]["resourceVersion"] = str(self.version)
            self.pods[key] = new
        else:
            old = copy.deepcopy(old)
            old["metadata"]["resourceVersion"] = str(self.version)
        self.history = [*self.history[1 - HISTORY:], (self.version, old, new)]
        was, now = [(bool(gates(pod)), pod["status"]["phase"]) if pod else None for pod in (old, new)]
        if was != now:
            what = "deleted" if not now else "held" if now[0] else "released" if now[1] == "Pending" else now[1]
            self.seen["log"].append([time.monotonic() - self.begin, what, (new or old)["metadata"]["name"]])
        self.changed.notify_all()

    def create(self, namespace, pod):
        metadata, spec = pod["metadata"], pod["spec"]
        metadata.setdefault("name", metadata.get("generateName", "") + uuid.uuid4().hex[:5])
        if (namespace, metadata["name"]) in self.pods:
            raise Refused(409, "AlreadyExists", f'pods "{metadata["name"]}" already exists')
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        metadata |= {"namespace": namespace, "uid": str(uuid.uuid4()), "creationTimestamp": now}
        for container in spec["containers"]:
            own = container.setdefault("resources", {})
            own["requests"] = own.get("limits", {}) | own.get("requests", {})
        pod["status"] = {"phase": "Pending", "conditions": []}
        if gates(pod):
            condition(pod, "False", "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
        self.write((namespace, metadata["name"]), pod)
        return pod

    def patch(self, key, kind, patch):
        self.seen["patches"] += 1
        if self.fault("conflict"):
            raise Refused(409, "Conflict", f"Operation cannot be fulfilled on pods {key[1]!r}: the object has been modified")
        old = self.get(key)
        if kind not in ("application/merge-patch+json", "application/strategic-merge-patch+json"):
            raise Refused(415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {kind}")
        new = merged(copy.deepcopy(old), copy.deepcopy(patch), "strategic" in kind)
        if new["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]:
            raise Refused(409, "Conflict", f"Operation cannot be fulfilled on pods {key[1]!r}: the object has been modified")
        if new["metadata"]["uid"] != old["metadata"]["uid"]:
            raise Refused(422, "Invalid", "metadata.uid: Invalid value: field is immutable")
        for gate in set(gates(new)) - set(gates(old)):
            self.seen["gates refused"] += 1
            raise Refused(422, "Invalid", f"spec.schedulingGates: only deletion is allowed, but found new scheduling gate {gate!r}")
        if {**new["spec"], "schedulingGates": 0} != {**old["spec"], "schedulingGates": 0}:
            raise Refused(422, "Invalid", "spec: Forbidden: pod updates may not change fields other than …")
        new["status"] = copy.deepcopy(old["status"])  # which has a door of its own
        if not gates(new):
            new["spec"].pop("schedulingGates", None)
            if gates(old):
                new["status"]["conditions"] = []
        if new != old:
            self.write(key, new)
        return new

    def get(self, key):
        if key not in self.pods:
            raise Refused(404, "NotFound", f'pods "{key[1]}" not found')
        return self.pods[key]

    def delete(self, key):
        pod = copy.deepcopy(self.get(key))
        if "nodeName" in pod["spec"] and pod["status"]["phase"] in ("Pending", "Running"):
            pod["metadata"]["deletionTimestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self.write(key, pod)  # the kubelet ends it
        else:
            self.write(key, None)
        return pod

    def turn(self, ends):
        """The scheduler and the kubelet of the one node; `ends` has what runs there, by uid: until when."""
        now = time.monotonic()
        for key, pod in list(self.pods.items()):
            phase, uid, new = pod["status"]["phase"], pod["metadata"]["uid"], copy.deepcopy(pod)
            annotations = pod["metadata"].get("annotations") or {}
            if phase == "Pending" and not gates(pod) and "nodeName" not in pod["spec"]:
                there = [p for p in self.pods.values() if "nodeName" in p["spec"] and p["status"]["phase"] in ("Pending", "Running")]
                asked = [requests(p["spec"]) for p in [*there, pod]]
                if all(sum(a.get(name, 0.0) for a in asked) <= n * (1 + 1e-9) for name, n in self.allocatable.items()):
                    new["spec"]["nodeName"] = "node-1"
                    condition(new, "True")
                    self.write(key, new)
                elif [c.get("reason") for c in pod["status"]["conditions"]] != ["Unschedulable"]:
                    self.seen["unschedulable"] += 1
                    condition(new, "False", "Unschedulable", "0/1 nodes are available: 1 Insufficient resources.")
                    self.write(key, new)
            elif phase == "Pending" and "nodeName" in pod["spec"]:
                ends[uid] = now + float(annotations.get("toy/seconds", 1))
                new["status"] |= {"phase": "Running", "startTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}
                self.write(key, new)
            elif phase == "Running" and "deletionTimestamp" in pod["metadata"]:
                self.write(key, None)
            elif phase == "Running" and ends[uid] <= now:
                new["status"]["phase"] = "Failed" if annotations.get("toy/fails") else "Succeeded"
                self.write(key, new)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    cluster: Cluster

    def log_message(self, *_):
        pass

    def answer(self, code, body):
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def serve(self):
        try:
            self.serve_one()
        except ConnectionError:  # the client is gone
            self.close_connection = True

    def serve_one(self):
        at, cluster = urlsplit(self.path), self.cluster
        query = {name: values[-1] for name, values in parse_qs(at.query).items()}
        text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body, way = json.loads(text) if text else None, at.path.strip("/").split("/")
        try:
            if way == ["faults"]:
                cluster.faults |= body
                return self.answer(200, cluster.faults)
            if way == ["seen"]:
                with cluster.changed:
                    return self.answer(200, cluster.seen)
            if way[:3] != ["api", "v1", "namespaces"] or way[4:5] != ["pods"]:
                raise Refused(404, "NotFound", "the server could not find the requested resource")
            if self.command != "POST" and cluster.fault("busy"):
                raise Refused(503, "ServiceUnavailable", "the server is currently unable to handle the request")
            if query.get("watch") in ("1", "true"):
                return self.watch(way[3], query)
            with cluster.changed:
                answer = self.act(way[3], tuple(way[3:6:2]), query, body)
        except Refused as refused:
            return self.answer(refused.status["code"], refused.status)
        if self.command == "PATCH":
            time.sleep(random.uniform(0, cluster.faults["latency"]))
            if cluster.fault("lost"):
                self.close_connection = True
                return None
        return self.answer(201 if self.command == "POST" else 200, answer)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = serve  # noqa: the names that the base class wants

    def act(self, namespace, key, query, body):
        cluster = self.cluster
        if self.command == "POST":
            return cluster.create(namespace, body)
        if self.command == "PATCH":
            return cluster.patch(key, self.headers["Content-Type"], body)
        if self.command == "DELETE":
            return cluster.delete(key)
        if len(key) == 2:
            return cluster.get(key)
        if "continue" in query:  # a list in pages is of the moment of its first page
            version, there = cluster.pages.pop(query["continue"], (0, []))
        else:
            version, there = cluster.version, [p for k, p in cluster.pods.items() if k[0] == namespace and selects(query, p)]
        if not version:
            raise Refused(410, "Expired", "the provided continue parameter is too old")
        size = 25 if "limit" in query else len(there)  # fewer than asked for, which is allowed
        own = {"resourceVersion": str(version)}
        if there[size:]:
            own["continue"] = uuid.uuid4().hex
            cluster.pages[own["continue"]] = (version, there[size:])
        return {"kind": "PodList", "apiVersion": "v1", "metadata": own, "items": there[:size]}

    def watch(self, namespace, query):
        cluster, version, begin = self.cluster, int(query["resourceVersion"]), time.monotonic()
        seconds = min(cluster.faults["watch"], float(query.get("timeoutSeconds", 300)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while time.monotonic() < begin + seconds:
            with cluster.changed:
                if cluster.version == version:
                    cluster.changed.wait(0.5)
                behind = version < cluster.version and (not cluster.history or cluster.history[0][0] > version + 1)
                new = [change for change in cluster.history if change[0] > version]
                events = [event(*change[1:], namespace, query) for change in new]
                version = max(version, cluster.version)
                mark = {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": str(version), "creationTimestamp": None}}
            events = [e for e in events if e] or [{"type": "BOOKMARK", "object": mark}]
            for own in events:
                if behind or cluster.fault("gone"):
                    gone = Refused(410, "Expired", f"too old resource version: {query['resourceVersion']} ({version})")
                    self.chunk({"type": "ERROR", "object": gone.status})
                    return self.end()
                if cluster.fault("drop"):
                    self.wfile.write(b"400\r\n" + json.dumps(own).encode()[:40])
                    self.close_connection = True
                    return None
                self.chunk(own)
        return self.end()

    def chunk(self, own):
        text = json.dumps(own).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
        self.wfile.flush()

    def end(self):
        self.wfile.write(b"0\r\n\r\n")


def start(port=0, allocatable="cpu=8,memory=16Gi,nvidia.com/gpu=2"):
    """Serves in threads of its own; the port is that of the answer."""
    words = [word.split("=") for word in allocatable.split(",")]
    cluster, ends = Cluster({name: quantity(n) for name, n in words}), {}

    def turns():
        while True:
            with cluster.changed:
                cluster.turn(ends)
            time.sleep(0.02)

    server = ThreadingHTTPServer(("127.0.0.1", port), type("Own", (Handler,), {"cluster": cluster}))
    server.daemon_threads = True
    threading.Thread(target=turns, daemon=True).start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, cluster


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="A toy API server of Kubernetes.")
    parser.add_argument("--port", type=int, default=8001)
    parser.add_argument("--allocatable", default="cpu=8,memory=16Gi,nvidia.com/gpu=2", help="of its one node")
    own = parser.parse_args()
    print(f"http://127.0.0.1:{start(own.port, own.allocatable)[0].server_port}", flush=True)
    threading.Event().wait()
