# SPDX-License-Identifier: Apache-2.0
"""Root on one machine, with that kubelet's credentials, against the pools of others."""

from tests.kit.api import ApiError
from tests.kit.as_user import as_kubelet
from tests.kit.names import JOB_NAME, JOB_UID, LEASE, LEASE_LABEL, POOL_LABEL
from tests.kit.played.case import FakeClusterCase
from tests.kit.played.worker_result import container_status, terminated
from tests.kit.waiting import holds_for, wait_for


class OwnerCase(FakeClusterCase):
    """kubelet: of a node that runs a worker. outsider_kubelet: of one that is in no pool."""

    def setUp(self):
        super().setUp()
        self.outsider = self.pool + "-outsider"
        self.nodes.add(self.outsider, {})
        self.outsider_kubelet = as_kubelet(self.api, self.outsider)

    def refused(self, call, *arguments, **options):
        with self.assertRaises(ApiError) as caught:
            call(*arguments, **options)
        self.assertEqual(403, caught.exception.code, caught.exception)

    def run_job(self, name="job", **options):
        job = self.submit(name, **options)
        job.wait_phase("Running")
        return job, as_kubelet(self.api, job.nodes()[0])

    def taint(self, node):
        return [t for t in self.api.get("nodes", node)["spec"].get("taints", []) if t["key"] == LEASE]


class JoinTest(OwnerCase):
    def test_no_machine_joins_a_pool_by_itself(self):
        self.refused(self.outsider_kubelet.patch, "nodes", self.outsider, {"metadata": {"labels": {POOL_LABEL: self.pool}}})
        self.refused(self.outsider_kubelet.patch, "nodes", self.outsider, {"metadata": {"labels": {POOL_LABEL: self.pool}}}, sub="status")
        self.refused(self.outsider_kubelet.patch, "nodes", self.node_names[0], {"metadata": {"labels": {"a": "b"}}})
        self.refused(self.outsider_kubelet.delete, "nodes", self.outsider, missing_ok=False)
        unborn = as_kubelet(self.api, self.pool + "-unborn")
        self.refused(unborn.create, "nodes", {"metadata": {"name": self.pool + "-unborn", "labels": {POOL_LABEL: self.pool}}})
        holds_for("the pool has its own nodes", lambda: self.pool_status()["nodes"]["total"] == self.node_count, 2)

    def test_it_writes_nothing_of_gpupools(self):
        job, _ = self.run_job()
        for kind, name, namespace in (("gpujobs", job.name, self.namespace), ("gpupools", self.pool, None)):
            self.refused(self.outsider_kubelet.patch, kind, name, {"status": {"phase": "Failed"}}, namespace, "status")
            self.refused(self.outsider_kubelet.patch, kind, name, {"spec": {}}, namespace)
        self.refused(self.outsider_kubelet.create, "gpunodes", {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuNode",
                                                        "metadata": {"name": self.outsider}})
        self.refused(self.outsider_kubelet.list, "gpujobs")


class LeaseTest(OwnerCase):
    def test_leased_node_does_not_free_itself(self):
        job, kubelet = self.run_job()
        node = job.nodes()[0]
        before = self.taint(node)
        self.assertTrue(before)
        self.refused(kubelet.patch, "nodes", node, {"spec": {"taints": []}})
        self.refused(kubelet.patch, "nodes", node, {"spec": {"taints": []}}, sub="status")
        self.refused(kubelet.patch, "nodes", node, {"metadata": {"labels": {LEASE_LABEL: None}}})
        self.refused(kubelet.patch, "nodes", node, {"metadata": {"labels": {LEASE_LABEL: job.lease()["id"] + "1"}}})
        self.refused(kubelet.delete, "nodes", node, missing_ok=False)
        # Annotations are a kubelet's to write; nothing is decided by ours.
        kubelet.patch("nodes", node, {"metadata": {"annotations": {LEASE: "kube-system/other"}}})
        holds_for("it is held", lambda: self.taint(node) == before and job.phase() == "Running", 3)
        self.assertEqual(1, job.status()["attempts"])

    def test_worker_that_its_kubelet_deletes_is_lost_and_the_node_stays_taken_meanwhile(self):
        job, kubelet = self.run_job()
        node, pod = job.nodes()[0], job.pods()[0]
        kubelet.delete("pods", pod["metadata"]["name"], self.namespace, gracePeriodSeconds=0)
        job.wait("the next attempt", lambda s: s.get("attempts") == 2)
        self.assertTrue(self.taint(node))
        self.assertEqual(0, job.status().get("failures", 0))

    def test_other_machines_workers_are_out_of_reach(self):
        job, _ = self.run_job()
        pod = job.pods()[0]["metadata"]["name"]
        self.refused(self.outsider_kubelet.delete, "pods", pod, self.namespace)
        self.refused(self.outsider_kubelet.patch, "pods", pod, {"status": {"phase": "Failed"}}, self.namespace, "status")
        self.refused(self.outsider_kubelet.create, "pods", {
            "metadata": {"name": "lured", "namespace": self.namespace},
            "spec": {"nodeName": self.outsider, "containers": [{"name": "c", "image": "i"}]}})


class ForgeryTest(OwnerCase):
    def setUp(self):
        super().setUp()
        self.kubelet.dead.add(self.outsider)  # that kubelet is not played by the tests

    def mirror(self, job, name, lease=None):
        """A pod that a kubelet reports as started by itself: it may carry any labels, in any namespace."""
        me = self.api.get("nodes", self.outsider)
        owner = {"apiVersion": "v1", "kind": "Node", "name": self.outsider, "uid": me["metadata"]["uid"],
                 "controller": True}
        return self.outsider_kubelet.create("pods", {
            "metadata": {"name": name, "namespace": self.namespace, "ownerReferences": [owner],
                         "annotations": {"kubernetes.io/config.mirror": "x", "kubernetes.io/config.hash": "x"},
                         "labels": {LEASE: lease or job.lease()["id"], JOB_UID: job.read()["metadata"]["uid"],
                                    JOB_NAME: job.name}},
            "spec": {"nodeName": self.outsider, "tolerations": [{"operator": "Exists", "effect": "NoExecute"}],
                     "containers": [{"name": "worker", "image": "i:1"}]}})

    def forge(self, pod, code):
        container = container_status("worker", "i:1", terminated(0, 0, code))
        status = {"phase": "Failed" if code else "Succeeded", "containerStatuses": [container]}
        self.outsider_kubelet.patch("pods", pod["metadata"]["name"], {"status": status}, self.namespace, "status")

    def test_forged_workers_of_others_jobs_count_for_nothing(self):
        one, _ = self.run_job("one")
        gang, _ = self.run_job("gang", gpus=2)
        before = sorted(p["metadata"]["uid"] for job in (one, gang) for p in job.pods())
        for number, (job, code) in enumerate(((one, 0), (one, 1), (gang, 1))):
            self.forge(self.mirror(job, f"forged-{number}-0"), code)
        running = self.mirror(gang, "forged-runs-1")
        holds_for("both run", lambda: (one.phase(), gang.phase()) == ("Running", "Running"), 3)
        self.assertEqual([(1, 0), (1, 0)], [(j.status()["attempts"], j.status().get("failures", 0)) for j in (one, gang)])
        left = {p["metadata"]["uid"] for p in self.api.list("pods", self.namespace)}
        self.assertTrue(left.issuperset(before))
        self.outsider_kubelet.patch("pods", "forged-runs-1", {"status": {"phase": "Running"}}, self.namespace, "status")
        self.finish(one)
        for rank in (0, 1):
            self.kubelet.finish(self.worker_of_gang("gang-1", rank))
        for job in (one, gang):
            self.assertEqual(1, job.wait_condition("Complete")["attempts"])
        wait_for("the nodes to be free although a forged worker runs", lambda: not self.nodes.traces(),
                 detail=lambda: str(self.nodes.traces()))
        for number in range(3):
            self.api.delete("pods", f"forged-{number}-0", self.namespace, gracePeriodSeconds=0)
        self.api.delete("pods", running["metadata"]["name"], self.namespace, gracePeriodSeconds=0)

    def test_forged_worker_of_the_next_attempt_counts_for_nothing(self):
        """What the next lease will be called is no secret: taints can be read by every kubelet."""
        for gpus in (1, 2):
            job, _ = self.run_job(f"job-{gpus}", gpus=gpus)
            uid, number = job.lease()["id"].rsplit(".", 1)
            for rank in range(gpus):
                self.forge(self.mirror(job, f"forged-{gpus}-{rank}", f"{uid}.{int(number) + 1}"), 0)
            self.finish(job, code=1) if gpus == 1 else self.kubelet.finish(self.worker_of_gang(f"{job.name}-1", 0), 1)
            job.wait("the next attempt to run", lambda s: s.get("attempts") == 2 and s.get("phase") == "Running")
            holds_for("it runs", lambda job=job: job.phase() == "Running", 2)
            job.delete()
            job.wait_gone()
            for rank in range(gpus):
                self.api.delete("pods", f"forged-{gpus}-{rank}", self.namespace, gracePeriodSeconds=0)

    def worker_of_gang(self, child, rank):
        return self.api.get("pods", f"{child}-{rank}", self.namespace)

    def test_a_machine_can_lie_about_its_own_workers(self):
        """Not defended: whoever owns the machine owns what runs there. It cannot say more than one worker could."""
        job, kubelet = self.run_job()
        pod = self.worker(job)
        container = {**pod["status"]["containerStatuses"][0], "state": terminated(0, 0, 0), "ready": False}
        kubelet.patch("pods", pod["metadata"]["name"],
                      {"status": {"phase": "Succeeded", "containerStatuses": [container]}}, self.namespace, "status")
        job.wait_condition("Complete")
