# SPDX-License-Identifier: Apache-2.0
"""Device plugins without GPUs: the kubelet's bookkeeping of slices, and the GpuNode objects that report it."""

import threading
import time

from tests.kit.api import Api, ApiError, Object
from tests.kit.manifests import gpu_node_manifest
from tests.kit.names import SLICE, SLICES_LABEL
from tests.kit.played.workers import is_over, slices_of

MEMORY = 16000  # MiB of every GPU
REPORT_INTERVAL = 1.0


class FakeGpu:
    def __init__(self, split: int) -> None:
        self.split, self.healthy, self.reason = split, True, ""
        self.pods: dict[str, tuple[str, str, int]] = {}  # UID -> (namespace, name, slices)

    def free(self) -> int:
        return self.split - sum(n for _, _, n in self.pods.values()) if self.healthy else 0


class FakePlugins:
    """Allocates as the true plugin does: all slices of a worker on the fullest GPU that can hold them."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._lock = threading.RLock()
        self._nodes: dict[str, list[FakeGpu]] = {}
        self._written: dict[str, tuple[Object, float]] = {}  # by name: status, and when
        self.silent: set[str] = set()  # nodes that do not report now
        self.refused = 0  # as many workers are refused next, whatever is free
        self.peak: dict[tuple[str, int], int] = {}  # (node, GPU) -> the most slices that were ever in use

    def add(self, name: str, gpus: int = 1, split: int = 10) -> None:
        with self._lock:
            self._nodes[name] = [FakeGpu(split) for _ in range(gpus)]
        node = self._api.get("nodes", name)
        owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
        self._api.create("gpunodes", gpu_node_manifest(name, ownerReferences=[owner]))
        self.report(name)

    def remove(self, name: str) -> None:
        """Before the node: what it owns goes with it."""
        with self._lock:
            self._nodes.pop(name, None)
            self._written.pop(name, None)
        self._api.delete("gpunodes", name)

    def clear(self) -> None:
        with self._lock:
            names, self._nodes = list(self._nodes), {}
            self._written.clear()
            self.peak.clear()
            self.silent.clear()
            self.refused = 0
        for name in names:
            self._api.delete("gpunodes", name)

    def set_health(self, name: str, index: int, healthy: bool, reason: str = "") -> None:
        with self._lock:
            gpu = self._nodes[name][index]
            gpu.healthy, gpu.reason = healthy, reason
        self.report(name)

    def admit(self, pod: Object) -> str:
        """As the kubelet does when a pod comes to its node. An empty string, or why it is refused."""
        meta, name = pod["metadata"], pod["spec"]["nodeName"]
        wanted, asked = int(meta["labels"][SLICES_LABEL]), slices_of(pod)
        assert wanted == asked, f"{meta['name']} says {wanted} and asks for {asked} slices"
        with self._lock:
            if any(meta["uid"] in gpu.pods for gpu in self._nodes.get(name, [])):
                return ""  # whoever asks again has not seen its own answer
            if self.refused > 0:
                self.refused -= 1
                return "Allocate failed due to rpc error: slices are in use, which is unexpected"
            chosen = self._choose(self._nodes.get(name, []), wanted)
            if not chosen:
                return f"Allocate failed due to rpc error: no GPU has {wanted} slices free, which is unexpected"
            for gpu in chosen:
                gpu.pods[meta["uid"]] = (meta["namespace"], meta["name"], wanted // len(chosen))
                key = (name, self._nodes[name].index(gpu))
                self.peak[key] = max(self.peak.get(key, 0), sum(n for _, _, n in gpu.pods.values()))
        return ""

    @staticmethod
    def _choose(gpus: list[FakeGpu], wanted: int) -> list[FakeGpu]:
        if gpus and wanted > gpus[0].split:
            whole = [gpu for gpu in gpus if gpu.healthy and not gpu.pods][:wanted // gpus[0].split]
            return whole if len(whole) * gpus[0].split == wanted else []
        fit = [gpu for gpu in gpus if gpu.free() >= wanted]
        return [min(fit, key=lambda gpu: gpu.free())] if fit else []

    def sync(self, pods: list[Object]) -> None:
        """The pods that are there now; what others held is free again. Then reports, where there is news."""
        alive = {p["metadata"]["uid"] for p in pods if not is_over(p)}
        with self._lock:
            names = list(self._nodes)
            for gpus in self._nodes.values():
                for gpu in gpus:
                    for uid in set(gpu.pods) - alive:
                        del gpu.pods[uid]
        for name in names:
            self._report_news(name)

    def gpu_of(self, pod: Object) -> tuple[str, int]:
        """(node, index) of the GPU whose slices the pod has."""
        with self._lock:
            return next((name, i) for name, gpus in self._nodes.items() for i, gpu in enumerate(gpus)
                        if pod["metadata"]["uid"] in gpu.pods)

    def _status(self, name: str) -> Object:
        with self._lock:
            gpus = [self._gpu_status(name, i, gpu) for i, gpu in enumerate(self._nodes[name])]
        total, free = (sum(gpu["slices"][key] for gpu in gpus) for key in ("total", "free"))
        healthy = sum(gpu["health"] == "Healthy" for gpu in gpus)
        return {"pluginVersion": "test", "driverVersion": "test", "gpus": gpus,
                "gpuCounts": {"total": len(gpus), "healthy": healthy}, "sliceCounts": {"total": total, "free": free}}

    @staticmethod
    def _gpu_status(name: str, index: int, gpu: FakeGpu) -> Object:
        pods = [{"namespace": ns, "name": pod, "slices": n} for ns, pod, n in gpu.pods.values()]
        return {"uuid": f"GPU-{name}-{index}", "index": index, "model": "TEST-GPU", "memoryMiB": MEMORY,
                "health": "Healthy" if gpu.healthy else "Unhealthy", "reason": gpu.reason or None,
                "resourceName": SLICE, "pods": pods,
                "slices": {"total": gpu.split, "free": gpu.free(), "memoryMiB": MEMORY // gpu.split,
                           "cores": 100 // gpu.split}}

    def _report_news(self, name: str) -> None:
        last, when = self._written.get(name, (None, 0.0))
        if name in self.silent or time.monotonic() < when + REPORT_INTERVAL:
            return
        try:
            if self._status(name) != last:
                self.report(name)
        except KeyError:
            pass  # cleared meanwhile

    def report(self, name: str) -> None:
        """The GpuNode, and what the kubelet makes of the devices: the node's allocatable slices."""
        status = self._status(name)
        self._written[name] = (status, time.monotonic())
        try:
            self._api.patch("gpunodes", name, {"status": status}, sub="status")
            healthy = sum(g["slices"]["total"] for g in status["gpus"] if g["health"] == "Healthy")
            amounts = {SLICE: str(healthy)}
            self._api.patch("nodes", name, {"status": {"capacity": amounts, "allocatable": amounts}}, sub="status")
        except ApiError as error:
            if error.code != 404:
                raise
