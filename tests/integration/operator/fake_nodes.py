"""Nodes without a machine: objects with a Ready condition, GPUs, and a heartbeat."""

import datetime
import threading

from support.api import ApiError
from support.jobs import GPU
from support.leaks import node_traces

HEARTBEAT = 3.0


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_now():
    return now().partition(".")[0] + "Z"


def amounts_of(gpus):
    return {"cpu": "8", "memory": "32Gi", "pods": "110", GPU: str(gpus)}


def ready_condition(status):
    return {"type": "Ready", "status": status, "reason": "Test", "message": "",
            "lastHeartbeatTime": seconds_now(), "lastTransitionTime": seconds_now()}


class FakeNodes:
    """Keeps the node controller content, so that only tests decide which nodes are ready."""

    def __init__(self, api):
        self._api = api
        self._names = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def close(self):
        self._stop.set()
        self._thread.join()

    def names(self):
        with self._lock:
            return set(self._names)

    def add(self, name, labels, gpus=1):
        """As kubelets register: complete at once. A node controller of 1.20 ends when it meets a node without conditions."""
        self._renew(name)
        status = {"capacity": amounts_of(gpus), "allocatable": amounts_of(gpus), "conditions": [ready_condition("True")]}
        self._api.create("nodes", {"metadata": {"name": name, "labels": labels}, "status": status})
        with self._lock:
            self._names.add(name)

    def remove(self, name):
        with self._lock:
            self._names.discard(name)
        self._api.delete("nodes", name)
        self._api.delete("leases", name, "kube-node-lease")

    def set_gpus(self, name, gpus):
        amounts = amounts_of(gpus)
        self._api.patch("nodes", name, {"status": {"capacity": amounts, "allocatable": amounts}}, sub="status")

    def set_ready(self, name, status):
        """True, False or Unknown."""
        self._api.patch("nodes", name, {"status": {"conditions": [ready_condition(status)]}}, sub="status")

    def traces(self):
        return [trace for node in self._api.list("nodes") for trace in node_traces(node)]

    def _renew(self, name):
        spec = {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now()}
        try:
            self._api.patch("leases", name, {"spec": spec}, "kube-node-lease")
        except ApiError as error:
            if error.code != 404:
                raise
            try:
                self._api.create("leases", {"metadata": {"name": name, "namespace": "kube-node-lease"}, "spec": spec})
            except ApiError as exists:
                if exists.code != 409:  # the heartbeat of a node of this name that was removed a moment ago
                    raise

    def _beat(self):
        while not self._stop.wait(HEARTBEAT):
            for name in self.names():
                try:
                    self._renew(name)
                except (ApiError, OSError):
                    pass  # removed meanwhile; a server that is away is the tests' business
