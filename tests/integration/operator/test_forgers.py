# SPDX-License-Identifier: Apache-2.0
"""Pods and Jobs that somebody else dresses up as a job's own: not believed. docs/security.md says who is."""

from tests.kit.names import JOB_NAME, JOB_UID, LEASE
from tests.kit.played.case import FakeClusterCase
from tests.kit.played.worker_result import container_status, terminated
from tests.kit.waiting import holds_for, wait_for

GPU_JOB = {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuJob", "controller": True}


class ForgerTest(FakeClusterCase):
    def setUp(self):
        super().setUp()
        self.elsewhere = self.namespace + "-forger"
        self.lab.make_namespace(self.elsewhere)
        self.addCleanup(self.api.delete, "namespaces", self.elsewhere)
        self.made = []

    def tearDown(self):
        for namespace, name in self.made:  # nothing ends these pods: no kubelet has them
            self.api.delete("pods", name, namespace, gracePeriodSeconds=0)
        super().tearDown()

    def labels(self, job, lease=None):
        return {LEASE: lease or job.lease()["id"], JOB_UID: job.read()["metadata"]["uid"], JOB_NAME: job.name}

    def forge(self, job, namespace, owner=None, lease=None, code=0, name="forged", node=None, ended=True):
        """A pod with the labels of a worker and a result of the forger's choice."""
        if ended:
            self.kubelet.ignored.add((namespace, name))
        meta = {"name": name, "namespace": namespace, "labels": self.labels(job, lease)}
        if owner:
            meta["ownerReferences"] = [{"blockOwnerDeletion": False, "controller": True, **owner}]
        self.api.create("pods", {"metadata": meta, "spec": {
            "nodeName": node or self.node_names[-1], "containers": [{"name": "worker", "image": "i:1"}],
            "tolerations": [{"operator": "Exists"}]}})
        self.made.append((namespace, name))
        if not ended:
            return
        container = container_status("worker", "i:1", terminated(0, 0, code, "forged words"))
        self.api.patch("pods", name, {"status": {"phase": "Failed" if code else "Succeeded",
                                                 "containerStatuses": [container]}}, namespace, "status")

    def workload(self, namespace, name, job, owned=False):
        """The forger's own Job; suspended by having no pods to make. Returns a reference to it."""
        meta = {"name": name, "namespace": namespace, "labels": self.labels(job)}
        if owned:
            meta["ownerReferences"] = [{**GPU_JOB, "name": job.name, "uid": job.read()["metadata"]["uid"]}]
        made = self.api.create("jobs", {"metadata": meta, "spec": {"parallelism": 0, "template": {"spec": {
            "restartPolicy": "Never", "containers": [{"name": "worker", "image": "i:1"}]}}}})
        return {"apiVersion": "batch/v1", "kind": "Job", "name": name, "uid": made["metadata"]["uid"]}

    def check_untouched(self, job, seconds=4):
        holds_for("it runs on", lambda: job.phase() == "Running", seconds)
        self.assertEqual((1, 0), (job.status()["attempts"], job.status().get("failures", 0)), job.show())
        self.finish(job)
        self.assertEqual(1, job.wait_condition("Complete")["attempts"])
        wait_for("its node to be free", lambda: not self.nodes.traces(), detail=lambda: str(self.nodes.traces()))

    def test_pods_of_another_namespace_decide_nothing(self):
        job = self.submit("victim")
        job.wait_phase("Running")
        real = self.api.get("jobs", "victim-1", self.namespace)["metadata"]["uid"]
        theirs = self.workload(self.elsewhere, "victim-1", job, owned=True)
        for number, owner in enumerate((theirs, {**theirs, "uid": real})):
            for code in (0, 1):
                self.forge(job, self.elsewhere, owner, code=code, name=f"forged-{number}-{code}")
        self.forge(job, self.elsewhere, theirs, name="forged-runs", ended=False)
        self.check_untouched(job)

    def test_pods_of_another_namespace_for_the_next_attempt_decide_nothing(self):
        job = self.submit("victim", backoffLimit=2)
        job.wait_phase("Running")
        uid, number = job.lease()["id"].rsplit(".", 1)
        theirs = self.workload(self.elsewhere, "victim-2", job)
        self.forge(job, self.elsewhere, theirs, f"{uid}.{int(number) + 1}")
        self.finish(job, code=1)
        job.wait("the next attempt to run", lambda s: s.get("attempts") == 2 and s.get("phase") == "Running")
        holds_for("it runs on", lambda: job.phase() == "Running", 3)

    def test_pods_before_the_first_lease_decide_nothing(self):
        job = self.submit("victim", suspend=True)
        job.wait_phase("Suspended")
        uid = job.read()["metadata"]["uid"]
        theirs = {"apiVersion": "batch/v1", "kind": "Job", "name": "victim-1", "uid": uid}
        self.forge(job, self.elsewhere, theirs, f"{uid}.1")
        job.patch(suspend=False)
        job.wait_phase("Running")
        self.check_untouched(job)

    def test_pods_of_its_own_namespace_by_others_decide_nothing(self):
        job = self.submit("victim")
        job.wait_phase("Running")
        self.forge(job, self.namespace, name="bare")
        theirs = self.workload(self.namespace, "theirs", job)
        for code in (0, 1):
            self.forge(job, self.namespace, theirs, code=code, name=f"forged-{code}")
        stateful = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "victim-1", "uid": theirs["uid"]}
        self.forge(job, self.namespace, stateful, name="victim-1-0")
        self.check_untouched(job)

    def test_a_workload_of_another_namespace_is_no_child(self):
        """It claims to be the job's own; the job's real one decides whether workers are missing."""
        job = self.submit("victim")
        job.wait_phase("Running")
        self.workload(self.elsewhere, "victim-1", job, owned=True)
        self.check_untouched(job)

    def test_labels_alone_make_no_node_unusable(self):
        self.api.create("pods", {"metadata": {"name": "labelled", "namespace": self.elsewhere, "labels": {
            JOB_UID: "x", JOB_NAME: "x", LEASE: "x.1"}}, "spec": {
                "nodeName": self.node_names[0], "containers": [{"name": "worker", "image": "i:1"}]}})
        self.made.append((self.elsewhere, "labelled"))
        self.wait_pool(nodes={"available": self.node_count})
        job = self.submit("all", gpus=self.node_count)
        job.wait_phase("Running")
        self.assertIsNotNone(self.api.find("pods", "labelled", self.elsewhere), "somebody else's pod was deleted")
