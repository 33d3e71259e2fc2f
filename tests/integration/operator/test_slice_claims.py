# SPDX-License-Identifier: Apache-2.0
"""Jobs of sharing pools make room for others (spec.queue.yield): others on the same nodes run on."""

from tests.kit.jobs import JobHandle
from tests.kit.names import POOL_TAINT
from tests.kit.played.case import FakeClusterCase
from tests.kit.played.sharing_case import SharingCase
from tests.kit.waiting import wait_for

CHECKPOINT = {"path": "/checkpoints", "graceSeconds": 5}


class Claims(FakeClusterCase):
    """Tenant owner has one GPU guaranteed."""

    node_count = 1

    def setUp(self):
        super().setUp()
        self.other = self.namespace + "-b"
        self.lab.make_namespace(self.other)
        self.addCleanup(self.api.delete, "namespaces", self.other)
        pool = self.api.patch("gpupools", self.pool, {"spec": {"queue": {
            "tenants": [{"name": "owner", "namespaces": [self.other], "guaranteed": 1}], "yield": {"minRunSeconds": 1}}}})
        wait_for("the operator to see the change of the pool", lambda: self.pool_status().get(
            "observedGeneration") == pool["metadata"]["generation"])

    def restart_at_claim(self, job: JobHandle, victim: JobHandle) -> None:
        """The operator restarts when the job claims what the other has. No worker ends before."""
        status = job.wait("a claim", lambda s: (s.get("lease") or {}).get("state") == "Awaiting" and s)
        self.assertEqual([victim.read()["metadata"]["uid"]], status["lease"]["awaits"])
        self.restart_operator()
        self.kubelet.dead.clear()

    def wait_yielded(self, job: JobHandle) -> None:
        status = job.wait("to have made room", lambda s: s.get("yields") == 1 and not s.get("lease") and s)
        self.assertEqual(("Queued", 0), (status["phase"], status.get("failures", 0)))


class SliceClaimTest(SharingCase, Claims):
    def test_a_guarantee_gets_slices_back(self):
        stays = self.submit_slices("stays", 4)
        leaves = self.submit_slices("leaves", 6, checkpoint=CHECKPOINT)
        for job in (stays, leaves):
            job.wait_phase("Running")
        self.kubelet.dead.update(self.node_names)
        firm = self.submit_slices("firm", 5, namespace=self.other)
        self.restart_at_claim(firm, leaves)
        firm.wait_phase("Running")
        self.wait_yielded(leaves)
        small = self.submit_slices("small", 1, namespace=self.other)
        small.wait_phase("Running")  # 4 + 5 + 1; the job that made room needs 6
        self.assertEqual(("Running", 1), (stays.phase(), stays.status()["attempts"]))
        for job in (firm, small):
            self.finish(job)
        leaves.wait("to run again", lambda s: s.get("attempts") == 2 and s["phase"] == "Running")


class SingleGpuClaimTest(Claims):
    pool_spec = {"sharing": {"unit": "GPU"}}

    def add_node(self, name: str) -> None:
        self.nodes.add(name, self.label, gpus=4)

    def clean(self) -> None:
        super().clean()
        wait_for("the marks of the pool to go", lambda: POOL_TAINT not in str(self.api.list("nodes")))

    def test_one_gpu_of_a_node(self):
        stays = self.submit("stays", gpus=2, gpusPerWorker=2)
        stays.wait_phase("Running")
        leaves = self.submit("leaves", gpus=2, gpusPerWorker=2, checkpoint=CHECKPOINT)
        leaves.wait_phase("Running")
        self.kubelet.dead.update(self.node_names)
        firm = self.submit("firm", namespace=self.other)
        self.restart_at_claim(firm, leaves)
        firm.wait_phase("Running")
        self.wait_yielded(leaves)
        self.assertEqual(("Running", 1), (stays.phase(), stays.status()["attempts"]))
