# SPDX-License-Identifier: Apache-2.0
"""Nodes without a machine: objects with a Ready condition, GPUs, and a heartbeat."""

import threading

from tests.kit.api import Api, ApiError, Object
from tests.kit.leaks import node_traces
from tests.kit.names import DRAIN, GPU
from tests.kit.times import now, seconds_now

HEARTBEAT = 3.0


def amounts_of(gpus: int) -> dict[str, str]:
    return {"cpu": "8", "memory": "32Gi", "pods": "110", GPU: str(gpus)}


def ready_condition(status: str) -> Object:
    """status: True, False or Unknown."""
    return {"type": "Ready", "status": status, "reason": "Test", "message": "",
            "lastHeartbeatTime": seconds_now(), "lastTransitionTime": seconds_now()}


def ready_status(gpus: int) -> Object:
    """Of a node that is Ready, with so many GPUs."""
    return {"capacity": amounts_of(gpus), "allocatable": amounts_of(gpus), "conditions": [ready_condition("True")]}


class FakeNodes:
    """Renews the leases of the nodes, so that only tests decide which nodes are ready."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._names: set[str] = set()
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._beat, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def names(self) -> set[str]:
        with self._lock:
            return set(self._names)

    def add(self, name: str, labels: dict[str, str], gpus: int = 1) -> None:
        """As kubelets register: complete at once. A node controller of 1.20 ends when it meets a node without conditions."""
        self._renew(name)
        self._api.create("nodes", {"metadata": {"name": name, "labels": labels}, "status": ready_status(gpus)})
        with self._lock:
            self._names.add(name)

    def remove(self, name: str) -> None:
        with self._lock:
            self._names.discard(name)
        self._api.delete("nodes", name)
        self._api.delete("leases", name, "kube-node-lease")

    def set_gpus(self, name: str, gpus: int) -> None:
        amounts = amounts_of(gpus)
        self._api.patch("nodes", name, {"status": {"capacity": amounts, "allocatable": amounts}}, sub="status")

    def set_ready(self, name: str, status: str) -> None:
        """True, False or Unknown."""
        self._api.patch("nodes", name, {"status": {"conditions": [ready_condition(status)]}}, sub="status")

    def drain(self, name: str, until: str = "") -> None:
        """As a person does; until: the deadline, if there is one."""
        self._api.patch("nodes", name, {"metadata": {"annotations": {DRAIN: until}}})

    def end_drain(self, name: str) -> None:
        self._api.patch("nodes", name, {"metadata": {"annotations": {DRAIN: None}}})

    def traces(self) -> list[str]:
        return [trace for node in self._api.list("nodes") for trace in node_traces(node)]

    def _renew(self, name: str) -> None:
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

    def _beat(self) -> None:
        while not self._stop.wait(HEARTBEAT):
            for name in self.names():
                try:
                    self._renew(name)
                except (ApiError, OSError):
                    pass  # removed meanwhile; a server that is away is the tests' business
