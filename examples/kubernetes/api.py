"""What the bridge asks of an API server of Kubernetes: lists, watches, patches; and what a pod asks for."""
import http.client
import json
import os
import random
import re
import ssl
import sys
import threading
import time
from urllib.parse import urlencode, urlsplit

ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount/"
POWERS = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "K": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
PROBLEMS = (OSError, http.client.HTTPException, ValueError)  # of the network, and of what came over it


def say(text):
    print(text, file=sys.stderr, flush=True)


def quantity(text):
    """`500m`, `16Gi`, `1e3`, `2`: as a number."""
    number, power, binary = re.fullmatch(r"([+-]?[\d.]+(?:[eE][+-]?\d+)?)([numkKMGTPE]?)(i?)", str(text)).groups()
    return float(number) * (1024.0 if binary else 1000.0) ** POWERS[power]


def requests(spec):
    """What a pod asks for: its containers and sidecars together, or the largest init container, and the overhead."""
    def of(container):
        return {name: quantity(n) for name, n in container.get("resources", {}).get("requests", {}).items()}

    inits = spec.get("initContainers") or []
    stay = spec["containers"] + [c for c in inits if c.get("restartPolicy") == "Always"]
    asked = {}
    for container in map(of, stay):
        asked |= {name: asked.get(name, 0.0) + n for name, n in container.items()}
    for container in map(of, inits):
        asked |= {name: max(asked.get(name, 0.0), n) for name, n in container.items()}
    return asked | {name: asked.get(name, 0.0) + quantity(n) for name, n in (spec.get("overhead") or {}).items()}


class Api:
    """Requests to an API server: by a URL, or as a pod's service account."""

    def __init__(self, server, token, ca):
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        inside = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
        if not server and not host:
            sys.exit("not in a cluster: give --server, for instance that of `kubectl proxy`, http://127.0.0.1:8001")
        self.at, self.token = urlsplit(server or inside), token or (None if server else ACCOUNT + "token")
        ca = ca or (None if server else ACCOUNT + "ca.crt")
        self.tls = ssl.create_default_context(cafile=ca) if self.at.scheme == "https" else None

    def open(self, method, path, query=None, body=None, content=None, timeout=10):
        headers = {"Accept": "application/json", "Connection": "close"} | ({"Content-Type": content} if content else {})
        if self.token:  # read each time, for tokens are renewed
            with open(self.token, encoding="utf-8") as file:
                headers["Authorization"] = "Bearer " + file.read().strip()
        if self.tls:
            connection = http.client.HTTPSConnection(self.at.hostname, self.at.port, timeout=10, context=self.tls)
        else:
            connection = http.client.HTTPConnection(self.at.hostname, self.at.port, timeout=10)
        connection.connect()
        connection.sock.settimeout(timeout)
        target = self.at.path.rstrip("/") + path + ("?" + urlencode(query) if query else "")
        connection.request(method, target, json.dumps(body) if body else None, headers)
        return connection.getresponse()

    def ask(self, *words, **more):
        with self.open(*words, **more) as response:
            return response.status, json.loads(response.read())


class Watcher(threading.Thread):
    """Puts ("LIST", pods) into the inbox, then what changes after it; the list again when the watch has lost track."""

    def __init__(self, api, path, selector, inbox):
        super().__init__(daemon=True)
        self.api, self.path, self.selector, self.inbox = api, path, {"labelSelector": selector}, inbox
        self.failed = 0  # in a row: lists, or watches that said nothing

    def run(self):
        while True:
            self.failed += 1
            try:
                version, listed = self.list(), time.monotonic()
                # Once in a while anyway: an etcd that came back from a backup counts on from an older version.
                while version and time.monotonic() < listed + 600:
                    begin, version = time.monotonic(), self.watch(version)
                    time.sleep(max(0.0, begin + 0.1 - time.monotonic()))
            except (*PROBLEMS, KeyError, TypeError, AttributeError) as problem:  # this thread must not end
                say(f"the API server: {problem!r}; the pods are listed again")
            time.sleep(random.uniform(0.5, 1) * min(10, 0.1 * 2 ** min(self.failed, 9)))

    def list(self):
        pods, more = [], ""
        while True:  # without resourceVersion: what is true now, not what a cache remembers
            query = self.selector | {"limit": 500} | ({"continue": more} if more else {})
            status, page = self.api.ask("GET", self.path, query)
            if status != 200:
                raise OSError(f"list of pods: {status} {page.get('message')}")
            pods += page["items"]
            more = page["metadata"].get("continue")
            if not more:
                self.inbox.put(("LIST", pods))
                return page["metadata"]["resourceVersion"]

    def watch(self, version):
        """Ends with the version to go on from, or with None when that is too old (410)."""
        query = self.selector | {"watch": 1, "resourceVersion": version, "allowWatchBookmarks": "true"}
        query["timeoutSeconds"] = 60  # short: a connection that died without a word is noticed after 75 s
        with self.api.open("GET", self.path, query, timeout=75) as response:
            if response.status == 410:
                return None
            if response.status != 200:
                raise OSError(f"watch of pods: {response.status}")
            for line in response:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    if event["object"].get("code") == 410:
                        return None
                    raise OSError(f"watch of pods: {event['object'].get('message')}")
                version = event["object"]["metadata"]["resourceVersion"]
                self.failed = 0
                if event["type"] != "BOOKMARK":
                    self.inbox.put((event["type"], event["object"]))
        return version
