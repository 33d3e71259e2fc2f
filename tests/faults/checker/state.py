# SPDX-License-Identifier: Apache-2.0
"""The cluster as it was at one revision."""

import collections
from typing import Any

from tests.faults.checker.records import Job, Node, Pod, Pool, gpus_of
from tests.kit.api import Object
from tests.kit.follower import GONE


class State:
    def __init__(self) -> None:
        self.jobs = {}  # UID: Job
        self.nodes = {}  # name: Node
        self.pods = {}  # UID: Pod
        self.gpus = {}  # node: [(slices there are, slices in use)]
        self.pools = {}  # name: Pool
        self.kept = collections.defaultdict(dict)  # UID of a job: number: segment of its bill, in GpuBillRecords
        self.vanished = set()  # UIDs of jobs that were gone without having been marked for deletion
        self._claimants = collections.defaultdict(set)  # node: UIDs of jobs whose lease names it
        self._on_node = collections.defaultdict(set)  # node: UIDs of pods

    def apply(self, revision: int, kind: str, what: str, objekt: Object) -> tuple[Any, Any]:
        """(before, after) of the record: None where there is none."""
        return getattr(self, "_apply_" + kind)(revision, objekt, what == GONE)

    def claimants(self, node: str) -> list[Job]:
        return [self.jobs[uid] for uid in self._claimants[node]]

    def pods_on(self, node: str) -> list[Pod]:
        return [self.pods[uid] for uid in self._on_node[node]]

    def _apply_nodes(self, revision: int, node: Object, gone: bool) -> Any:
        name = node["metadata"]["name"]
        before = self.nodes.pop(name, None)
        if gone:
            return before, None
        same = before and before.uid == node["metadata"]["uid"]
        now = Node.read(node, before.born if same else revision)
        self.nodes[name] = now.after(before, node) if same else now
        return before, self.nodes[name]

    def _apply_gpujobs(self, _revision: int, job: Object, gone: bool) -> tuple[Any, Any]:
        uid = job["metadata"]["uid"]
        before, after = self.jobs.pop(uid, None), None if gone else Job.read(job)
        for name in before.places() if before else ():
            self._claimants[name].discard(uid)
        if before and not after and not before.deleting:
            self.vanished.add(uid)
        if after:
            self.jobs[uid] = after
            for name in after.places():
                self._claimants[name].add(uid)
        return before, after

    def _apply_pods(self, revision: int, pod: Object, gone: bool) -> tuple[Any, Any]:
        uid = pod["metadata"]["uid"]
        before = self.pods.pop(uid, None)
        if before:
            self._on_node[before.node].discard(uid)
        after = None if gone else Pod.read(pod, before.born if before else revision)
        if after:
            self.pods[uid] = after
            self._on_node[after.node].add(uid)
        return before, after

    def _apply_gpunodes(self, _revision: int, gpu_node: Object, gone: bool) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        name = gpu_node["metadata"]["name"]
        before, after = self.gpus.pop(name, None), None if gone else gpus_of(gpu_node)
        if after is not None:
            self.gpus[name] = after
        return (name, before), (name, after)

    def _apply_gpupools(self, _revision: int, pool: Object, gone: bool) -> tuple[Any, Any]:
        name = pool["metadata"]["name"]
        before, after = self.pools.pop(name, None), None if gone else Pool.read(pool)
        if after:
            self.pools[name] = after
        return before, after

    def _apply_gpubillrecords(self, _revision: int, record: Object, gone: bool) -> tuple[None, None]:
        """What the ledger has deleted is in its books."""
        if not gone:
            for segment in record["spec"]["bill"].get("segments", []):
                self.kept[record["spec"]["jobUID"]][segment["number"]] = segment
        return None, None

    @staticmethod
    def _apply_leases(_revision: int, lease: Object, gone: bool) -> tuple[None, Any]:
        return None, None if gone else lease
