# SPDX-License-Identifier: Apache-2.0
"""The base of tests on a played cluster: each has a pool of nodes without machines."""

import itertools
from typing import Sequence

from tests.kit.api import Object
from tests.kit.jobs import JobHandle
from tests.kit.manifests import pool_manifest
from tests.kit.names import POOL_LABEL
from tests.kit.operator_case import OperatorCase
from tests.kit.played.kubelet import PlayedKubelet
from tests.kit.played.nodes import FakeNodes
from tests.kit.played.plugins import FakePlugins
from tests.kit.waiting import wait_for

_pools = itertools.count(1)


class FakeClusterCase(OperatorCase):
    # Set by the program that runs the tests (played/cluster.py).
    nodes: FakeNodes
    kubelet: PlayedKubelet
    plugins: FakePlugins

    node_count = 3
    pool_spec: Object = {}  # besides the selector

    def setUp(self) -> None:
        super().setUp()
        self.pool = f"it-{next(_pools)}"
        self.label = {POOL_LABEL: self.pool}
        self.node_names = [f"{self.pool}-n{i}" for i in range(self.node_count)]
        # Nodes first: a pool's status is written once a second, so the first one shall show all of them.
        for name in self.node_names:
            self.add_node(name)
        self.api.create("gpupools", pool_manifest(self.pool, self.label, nodeLossTimeoutSeconds=2, **self.pool_spec))
        if self.node_count:
            self.wait_pool(nodes={"available": self.node_count})

    def add_node(self, name: str) -> None:
        self.nodes.add(name, self.label)

    def clean(self) -> None:
        self.kubelet.dead.clear()
        self.kubelet.ignored.clear()
        self.kubelet.transfers.clear()
        super().clean()
        self.plugins.clear()
        for pool in self.api.list("gpupools"):
            self.api.delete("gpupools", pool["metadata"]["name"])
        wait_for("all pools to be gone", lambda: not self.api.list("gpupools"), detail=self.operator.tail)
        for name in self.nodes.names():
            self.nodes.remove(name)

    def pool_status(self, name: str | None = None) -> Object:
        return self.api.get("gpupools", name or self.pool).get("status") or {}

    def pool_ready(self, name: str | None = None) -> Object:
        return next((c for c in self.pool_status(name).get("conditions", []) if c["type"] == "Ready"), {})

    def wait_pool(self, name: str | None = None, **blocks: dict[str, int]) -> None:
        """Until the counts of these blocks (nodes, gpus, jobs) are so; absent ones are zero."""
        def agrees() -> bool:
            status = self.pool_status(name)
            return all(status.get(block, {}).get(key, 0) == value for block, wanted in blocks.items()
                       for key, value in wanted.items())
        wait_for(f"pool status {blocks}", agrees, detail=lambda: str(self.pool_status(name)))

    def quota(self, name: str, **hard: str) -> None:
        """Of the namespace of this test, in force."""
        self.api.create("resourcequotas", {"metadata": {"name": name, "namespace": self.namespace}, "spec": {"hard": hard}})
        wait_for("the quota to be counted", lambda: self.api.get("resourcequotas", name, self.namespace)
                 .get("status", {}).get("hard"))

    def worker(self, job: JobHandle, rank: int | None = None) -> Object:
        """The running pod of this rank."""
        def found() -> Object | None:
            for pod in job.pods():
                fits = rank is None or pod["metadata"]["name"].endswith(f"-{rank}")
                if fits and pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]:
                    return pod
            return None
        return wait_for(f"the worker {rank} of {job.name} to run", found, detail=job.show)

    def finish(self, job: JobHandle, code: int = 0, tail: str = "", ranks: Sequence[int | None] = (None,)) -> None:
        for rank in ranks:
            self.kubelet.finish(self.worker(job, rank), code, tail)
