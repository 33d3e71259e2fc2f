# SPDX-License-Identifier: Apache-2.0
"""One table: what happens to a worker, what it counts as, and what is done; alone and in a gang."""

import dataclasses
from typing import Callable

from tests.kit.api import Api, Object
from tests.kit.played.binder import Binder, has_lease_of
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import wait_for


@dataclasses.dataclass
class Row:
    name: str
    happens: Callable  # (test, job, rank 0's pod)
    event: str = ""  # that tells it
    attempts: int = 2
    failures: int = 0
    shapes: tuple = (1, 2)


def evict(test, _job, pod):
    meta = pod["metadata"]
    version = "policy/v1" if test.api.minor() >= 22 else "policy/v1beta1"
    test.api.call("POST", test.api.url("pods", meta["namespace"], meta["name"], "eviction"),
                  {"apiVersion": version, "kind": "Eviction", "metadata": {"name": meta["name"]}})


def evict_by_kubelet(test, _job, pod):
    meta = pod["metadata"]
    ended = [{**status, "state": {"terminated": {"exitCode": 137, "reason": "Error"}}}
             for status in pod["status"]["containerStatuses"]]
    test.api.patch("pods", meta["name"], {"status": {
        "phase": "Failed", "reason": "Evicted", "message": "low on memory", "containerStatuses": ended}},
        meta["namespace"], "status")


def preempt(test, _job, pod):
    meta = pod["metadata"]
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": ""}
    test.api.patch("pods", meta["name"], {"status": {"conditions": [condition]}}, meta["namespace"], "status")
    test.api.delete("pods", meta["name"], meta["namespace"])


def workload(job, pod):
    owner = pod["metadata"]["ownerReferences"][0]
    return {"Job": "jobs", "StatefulSet": "statefulsets"}[owner["kind"]], owner["name"], job.namespace


def delete_workload(test, job, pod):
    kind, name, namespace = workload(job, pod)
    test.api.delete(kind, name, namespace)


def edit_workload(test, job, pod):
    kind, name, namespace = workload(job, pod)
    annotations = {"metadata": {"annotations": {"example.org/edited": "by hand"}}}
    change = {"template": annotations} if kind == "statefulsets" else {"backoffLimit": 7}
    test.api.patch(kind, name, {"spec": change}, namespace)


def scale(down_to_one):
    def happens(test, job, pod):
        kind, name, namespace = workload(job, pod)
        if kind == "jobs":
            change = {"parallelism": 0 if down_to_one else 3}
        else:
            change = {"replicas": 1 if down_to_one else 4}
        test.api.patch(kind, name, {"spec": change}, namespace)
    return happens


def delete_service(test, job, pod):
    _, name, namespace = workload(job, pod)
    uid = test.api.get("services", name, namespace)["metadata"]["uid"]
    test.api.delete("services", name, namespace)

    def made_again():
        service = test.api.find("services", name, namespace)
        return service and service["metadata"]["uid"] != uid
    wait_for("the Service to be made again", made_again, detail=job.show)


TABLE = [
    Row("exit-0", lambda test, job, pod: None, "Completed", attempts=1),
    Row("exit-n", lambda test, job, pod: test.kubelet.finish(pod, 3), "WorkerFailed", failures=1),
    Row("oom", lambda test, job, pod: test.kubelet.break_off(pod, 137, "OOMKilled"), "WorkerFailed", failures=1),
    Row("node-rebooted", lambda test, job, pod: test.kubelet.break_off(pod, 255, "Unknown"), "WorkerLost"),
    Row("evicted", evict, "WorkerLost"),
    Row("evicted-by-kubelet", evict_by_kubelet, "WorkerLost"),
    Row("preempted", preempt, "WorkerLost"),
    Row("deleted", lambda test, job, pod: test.api.delete("pods", pod["metadata"]["name"], job.namespace), "WorkerLost"),
    Row("workload-deleted", delete_workload, "WorkerLost"),
    Row("workload-edited", edit_workload, attempts=1),
    Row("scaled-down", scale(True), "WorkerLost"),
    Row("scaled-up", scale(False), attempts=1),
    Row("service-deleted", delete_service, "ServiceRestored", attempts=1, shapes=(2,)),
]


class WorkerTableTest(FakeClusterCase):
    node_count = 2 * len(TABLE)

    def test_alone(self):
        self.try_all(1)

    def test_in_a_gang(self):
        self.try_all(2)

    def try_all(self, gpus):
        """All rows at the same time, each with a job of its own."""
        rows = [row for row in TABLE if gpus in row.shapes]
        jobs = {row.name: self.submit(row.name, gpus=gpus, backoffLimit=1) for row in rows}
        for row in rows:
            jobs[row.name].wait_phase("Running")
        for row in rows:
            row.happens(self, jobs[row.name], self.worker(jobs[row.name], 0 if gpus > 1 else None))
        for row in rows:
            with self.subTest(row.name):
                self.check(row, jobs[row.name], gpus)

    def check(self, row, job, gpus):
        job.wait(f"attempt {row.attempts}", lambda s: s.get("attempts") == row.attempts and s["phase"] == "Running")
        self.finish(job, ranks=range(gpus) if gpus > 1 else (None,))
        status = job.wait_condition("Complete")
        self.assertEqual((row.attempts, row.failures), (status["attempts"], status.get("failures", 0)), job.show())
        if row.event:
            wait_for(f"event {row.event} of {row.name}", lambda: row.event in [e["reason"] for e in job.events()],
                     detail=lambda: str([e["reason"] for e in job.events()]))


class RendezvousTest(FakeClusterCase):
    node_count = 4

    def test_the_status_says_when_ranks_above_0_start(self):
        """A kubelet shows a launcher that waits for rank 0 as it shows a command."""
        for rendezvous, waits in (("MasterPort", True), ("None", False)):
            job = self.submit(rendezvous.lower(), gpus=2, rendezvous=rendezvous)
            message = job.wait_phase("Running")["message"]
            self.assertEqual(waits, "ranks above 0 start their command when rank 0 listens on port 29500" in message)
            command = self.worker(job, 1)["spec"]["containers"][0]["command"]
            self.assertEqual(waits, "--master-timeout=0" not in command, command)


class NoRoomBinder(Binder):
    """As a scheduler that knows of a node what the operator does not: nothing has room there."""

    def __init__(self, api: Api, full: str) -> None:
        super().__init__(api)
        self._whole_api, self._full = api, full

    def bind(self, pod: Object) -> None:
        if not has_lease_of(self._whole_api.get("nodes", self._full), pod):
            super().bind(pod)
        elif not pod["status"].get("conditions"):
            why = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                   "message": "0/2 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."}
            self._whole_api.patch("pods", pod["metadata"]["name"], {"status": {"conditions": [why]}},
                                  pod["metadata"]["namespace"], sub="status")


class StuckTest(FakeClusterCase):
    node_count = 2

    def test_worker_that_finds_no_place_moves_on(self):
        self.addCleanup(setattr, self.kubelet, "scheduler", self.kubelet.scheduler)
        self.kubelet.scheduler = NoRoomBinder(self.api, self.node_names[0])
        job = self.submit("stuck", backoffLimit=0)
        job.wait("the first lease", lambda s: s.get("lease") and job.nodes() == self.node_names[:1])
        status = job.wait_reason("PlacementRefused")
        self.assertIn("didn't have free ports", status["message"])
        job.wait_phase("Running")
        self.assertEqual(self.node_names[1:], job.nodes())
        self.finish(job)
        self.assertEqual(0, job.wait_condition("Complete").get("failures", 0))


class VolumeTest(FakeClusterCase):
    """The kubelet cannot mount a volume, and says so only in an Event."""

    node_count = 1

    def test_nodes_of_a_worker_whose_volume_does_not_exist_are_given_back(self):
        self.kubelet.dead.add(self.node_names[0])  # so that nothing starts
        job = self.submit("unmounted", backoffLimit=0)
        pod = wait_for("a pod with a node", lambda: next((p for p in job.pods() if p["spec"].get("nodeName")), None))
        words = 'MountVolume.SetUp failed for volume "settings" : configmap "x" not found'
        self.api.call("POST", f"/api/v1/namespaces/{self.namespace}/events", {
            "metadata": {"name": "mount", "namespace": self.namespace}, "type": "Warning", "reason": "FailedMount",
            "message": words, "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": self.namespace,
                                                 "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}})
        status = job.wait_reason("PlacementRefused")
        self.assertIn(words, status["message"])
        self.kubelet.dead.clear()
        job.wait_phase("Running")
        self.finish(job)
        self.assertEqual(0, job.wait_condition("Complete").get("failures", 0))


class LostAgainAndAgainTest(FakeClusterCase):
    node_count = 1

    def test_attempts_follow_each_other_ever_more_slowly(self):
        job = self.submit("unlucky", backoffLimit=0)
        for attempt in range(3):
            job.wait("the attempt", lambda s, a=attempt: s.get("attempts") == a + 1 and s["phase"] == "Running")
            self.api.delete("pods", self.worker(job)["metadata"]["name"], self.namespace)
        until = job.wait("a pause", lambda s: (s.get("lease") or {}).get("notBefore"))
        self.restart_operator()
        job.wait("the next attempt", lambda s: s.get("attempts") == 4 and s["phase"] == "Running")
        self.assertGreaterEqual(self.worker(job)["metadata"]["creationTimestamp"], until,
                                "a new operator keeps to the pause")
        self.assertEqual(0, job.status().get("failures", 0))


class ForgottenEndTest(FakeClusterCase):
    def test_result_that_a_kubelet_has_lost_is_waited_for(self):
        """Rank 1 has ended and was started again, and its dead container is gone: its launcher repeats the result."""
        job = self.submit("gang", gpus=2, backoffLimit=0)
        job.wait_phase("Running")
        self.kubelet.forget(self.worker(job, 1))
        self.finish(job, ranks=[0])
        status = job.wait_reason("WaitingForResult")
        self.assertIn("rank 1 was started again", status["message"])
        self.finish(job, ranks=[1])
        status = job.wait_condition("Complete")
        self.assertEqual((1, 0), (status["attempts"], status.get("failures", 0)))
