"""The base of the tests here: a pool of nodes without machines, made for each test and removed with it."""

import itertools

from support.case import OperatorCase
from support.jobs import pool_manifest
from support.waiting import wait_for

_pools = itertools.count(1)


class FakeClusterCase(OperatorCase):
    nodes = None  # FakeNodes, set by the runner
    kubelet = None  # FakeKubelet, set by the runner
    plugins = None  # FakePlugins, set by the runner
    node_count = 3
    pool_spec = {}  # besides the selector

    def setUp(self):
        super().setUp()
        self.pool = f"it-{next(_pools)}"
        self.label = {"gpupool.dev.node-restriction.kubernetes.io/pool": self.pool}
        self.node_names = [f"{self.pool}-n{i}" for i in range(self.node_count)]
        self.api.create("gpupools", pool_manifest(self.pool, self.label, nodeLossTimeoutSeconds=2, **self.pool_spec))
        for name in self.node_names:
            self.add_node(name)
        if self.node_count:
            self.wait_pool(nodes={"available": self.node_count})

    def add_node(self, name):
        self.nodes.add(name, self.label)

    def clean(self):
        self.kubelet.dead.clear()
        super().clean()
        self.plugins.clear()
        for pool in self.api.list("gpupools"):
            self.api.delete("gpupools", pool["metadata"]["name"])
        wait_for("all pools to be gone", lambda: not self.api.list("gpupools"), detail=self.operator.tail)
        for name in self.nodes.names():
            self.nodes.remove(name)

    def pool_status(self, name=None):
        return self.api.get("gpupools", name or self.pool).get("status") or {}

    def pool_ready(self, name=None):
        return next((c for c in self.pool_status(name).get("conditions", []) if c["type"] == "Ready"), {})

    def wait_pool(self, name=None, **blocks):
        """Until the counts of these blocks (nodes, gpus, jobs) are so; absent ones are zero."""
        def agrees():
            status = self.pool_status(name)
            return all(status.get(block, {}).get(key, 0) == value for block, wanted in blocks.items()
                       for key, value in wanted.items())
        wait_for(f"pool status {blocks}", agrees, detail=lambda: str(self.pool_status(name)))

    def worker(self, job, rank=None):
        """The running pod of this rank."""
        def found():
            for pod in job.pods():
                fits = rank is None or pod["metadata"]["name"].endswith(f"-{rank}")
                if fits and pod["status"].get("phase") == "Running" and "deletionTimestamp" not in pod["metadata"]:
                    return pod
            return None
        return wait_for(f"the worker {rank} of {job.name} to run", found, detail=job.show)

    def finish(self, job, code=0, tail="", ranks=(None,)):
        for rank in ranks:
            self.kubelet.finish(self.worker(job, rank), code, tail)
