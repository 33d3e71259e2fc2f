# SPDX-License-Identifier: Apache-2.0
"""Nodes that are lost, cordoned, relabelled and made again while jobs hold them."""

import datetime
import time

from tests.kit.leaks import node_traces
from tests.kit.manifests import shell
from tests.kit.names import LEASE, LEASE_LABEL, POOL_LABEL
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for


class NodeCase(FakeClusterCase):
    node_count = 4

    def clean(self):
        """A silent node would keep its taint, and with it the job."""
        self.bring_back(*self.nodes.names())
        super().clean()

    def start(self, gpus=2, **spec):
        job = self.submit("job", gpus=gpus, **spec)
        job.wait_phase("Running")
        return job

    def lose(self, *names, status="Unknown"):
        self.kubelet.dead.update(names)
        for name in names:
            self.nodes.set_ready(name, status)

    def bring_back(self, *names):
        self.kubelet.dead.difference_update(names)
        for name in names:
            self.nodes.set_ready(name, "True")

    def cordon(self, name, cordoned=True):
        self.api.patch("nodes", name, {"spec": {"unschedulable": cordoned}})

    def wait_attempt(self, job, number):
        job.wait(f"attempt {number}", lambda s: s.get("attempts") == number + 1 and s["phase"] == "Running")

    def complete(self, job, attempts, ranks=(0, 1)):
        self.finish(job, ranks=ranks)
        status = job.wait_condition("Complete")
        self.assertEqual((attempts, 0), (status["attempts"], status.get("failures", 0)))

    def wait_free(self, *names):
        for name in names:
            wait_for(f"node {name} to be free", lambda n=name: not node_traces(self.api.get("nodes", n)))

    def wait_event(self, job, reason):
        wait_for(f"event {reason}", lambda: reason in [e["reason"] for e in job.events()], detail=job.show)


class LossTest(NodeCase):
    def test_several_nodes_lost_at_once(self):
        job = self.start()
        lost = job.nodes()
        self.lose(*lost)
        self.wait_attempt(job, 1)
        self.assertEqual(set(self.node_names) - set(lost), set(job.nodes()))
        self.assertEqual(lost, sorted(node["name"] for node in job.lease()["lost"]))
        self.complete(job, 2)
        for name in lost:
            self.assertTrue(node_traces(self.api.get("nodes", name)), "taken until it is heard from")
        self.bring_back(*lost)
        self.wait_free(*lost)

    def test_a_kubelet_that_says_not_ready_itself(self):
        job = self.start(1)
        (lost,) = job.nodes()
        self.lose(lost, status="False")
        self.wait_attempt(job, 1)
        self.assertNotIn(lost, job.nodes())
        self.bring_back(lost)
        self.complete(job, 2, ranks=(None,))

    def test_a_node_lost_while_workers_end_holds_up_no_other(self):
        job = self.start()
        dead, alive = job.nodes()
        self.lose(dead)
        job.patch(suspend=True)
        job.wait_phase("Suspended")
        self.wait_free(alive)
        self.assertTrue(node_traces(self.api.get("nodes", dead)))
        self.bring_back(dead)
        self.wait_free(dead)

    def test_a_crash_that_a_lost_node_explains_is_not_charged(self):
        job = self.start(backoffLimit=1)
        _, lost = job.nodes()
        self.kubelet.dead.add(lost)
        rank = next(int(p["metadata"]["name"][-1]) for p in job.pods() if p["spec"]["nodeName"] != lost)
        self.kubelet.finish(self.worker(job, rank), 1, "connection reset by peer")
        job.wait("the charge", lambda s: s.get("failures") == 1)
        self.nodes.set_ready(lost, "Unknown")
        self.wait_attempt(job, 1)
        self.complete(job, 2)

    def test_a_machine_made_again_is_not_rented_while_its_old_worker_is_there(self):
        for name in self.node_names[1:]:
            self.nodes.remove(name)
        job = self.start(1)
        (name,) = job.nodes()
        self.kubelet.dead.add(name)
        self.nodes.remove(name)
        self.nodes.add(name, self.label)
        job.wait_phase("Queued")
        other = self.submit("other")
        other.wait_reason("WaitingForNodes")
        holds_for("nobody gets the machine", lambda: not node_traces(self.api.get("nodes", name)), 2)
        self.kubelet.dead.clear()
        self.wait_attempt(job, 1)
        self.complete(job, 2, ranks=(None,))


class ClockTest(NodeCase):
    def test_stamps_that_are_ten_minutes_off_mean_nothing(self):
        """Those of a kubelet and of the node controller, ahead and behind."""
        self.api.patch("gpupools", self.pool, {"spec": {"nodeLossTimeoutSeconds": 6}})
        for number, minutes in enumerate((-10, 10)):
            with self.subTest(minutes=minutes):
                job = self.submit(f"skew-{number}", gpus=1)
                job.wait_phase("Running")
                (name,) = job.nodes()
                stamp = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=minutes)
                condition = {"type": "Ready", "status": "Unknown", "reason": "Test", "message": "",
                             "lastTransitionTime": stamp.strftime("%Y-%m-%dT%H:%M:%SZ")}
                self.kubelet.dead.add(name)
                begin = time.monotonic()
                self.api.patch("nodes", name, {"status": {"conditions": [condition]}}, sub="status")
                self.wait_attempt(job, 1)
                self.assertGreater(time.monotonic() - begin, 5, "the node was lost at once")
                self.bring_back(name)
                self.complete(job, 2, ranks=(None,))
                self.wait_free(name)


class LeavingTest(NodeCase):
    def test_a_node_relabelled_out_of_the_pool_keeps_its_rent_until_the_job_ends(self):
        job = self.start()
        left, lost = job.nodes()
        self.api.patch("nodes", left, {"metadata": {"labels": {POOL_LABEL: None}}})
        self.wait_pool(nodes={"total": 3})
        self.finish(job, 1, ranks=(0,))
        self.wait_attempt(job, 1)
        self.assertEqual([left, lost], job.nodes(), "it stays through a crash")
        self.lose(lost)
        self.wait_attempt(job, 2)
        self.assertIn(left, job.nodes(), "and through the loss of another")
        self.finish(job, ranks=(0, 1))
        job.wait_condition("Complete")
        self.bring_back(lost)
        self.wait_free(left, lost)
        next_job = self.submit("next", gpus=4)
        next_job.wait_reason("TooLarge")

    def test_a_cordoned_node_is_left_when_its_worker_is_evicted(self):
        job = self.start()
        left = job.nodes()[0]
        self.cordon(left)
        holds_for("it runs on", lambda: job.phase() == "Running", 1)
        pod = next(p for p in job.pods() if p["spec"]["nodeName"] == left)
        self.api.delete("pods", pod["metadata"]["name"], self.namespace)
        self.wait_attempt(job, 1)
        self.assertNotIn(left, job.nodes())
        self.wait_free(left)
        self.complete(job, 2)


class NeverTest(NodeCase):
    def test_the_job_waits_and_goes_on(self):
        job = self.start(nodeReplacement="Never")
        nodes, lease = job.nodes(), job.lease()["id"]
        self.lose(nodes[1])
        job.wait_reason("WaitingForLostNode")
        self.assertEqual((nodes, lease, "Running"), (job.nodes(), job.lease()["id"], job.phase()))
        self.bring_back(nodes[1])
        job.wait_reason("WorkersRunning")
        self.complete(job, 1)

    def test_all_start_again_on_the_same_nodes(self):
        job = self.start(nodeReplacement="Never", backoffLimit=0)
        nodes = job.nodes()
        self.lose(nodes[1])
        job.wait_reason("WaitingForLostNode")
        rank = next(int(p["metadata"]["name"][-1]) for p in job.pods() if p["spec"]["nodeName"] == nodes[0])
        self.kubelet.finish(self.worker(job, rank), 1, "peer is gone")
        job.wait("another lease", lambda s: s["lease"]["state"] == "Restarting")
        self.bring_back(nodes[1])
        self.wait_attempt(job, 1)
        self.assertEqual(nodes, job.nodes())
        self.complete(job, 2)


class IntruderTest(NodeCase):
    node_count = 1

    def invite(self, job):
        """A foreign pod with a nodeName, which no taint keeps away."""
        wait_for("a second of the job to pass", lambda: datetime.datetime.now(datetime.timezone.utc).strftime(
            "%Y-%m-%dT%H:%M:%SZ") > job.status()["startTime"])
        self.api.create("pods", {"metadata": {"name": "foreign", "namespace": self.namespace},
                                 "spec": {"nodeName": job.nodes()[0], "containers": [shell("sleep 3600")]}})

    def test_a_removed_taint_and_what_came_through_are_told(self):
        job = self.start(1)
        (name,) = job.nodes()
        before = self.operator.metric("gpupool_lease_marks_restored_total")
        foreign = self.operator.metric("gpupool_foreign_pods_total")
        self.invite(job)
        self.api.patch("nodes", name, {"spec": {"taints": None}})
        taint = {"key": LEASE, "value": job.lease()["id"], "effect": "NoSchedule"}
        wait_for("the taint", lambda: taint in self.api.get("nodes", name)["spec"].get("taints", []))
        self.wait_event(job, "LeaseMarksRestored")
        self.wait_event(job, "ForeignPod")
        for name_of_metric, wanted in (("gpupool_lease_marks_restored_total", before + 1),
                                       ("gpupool_foreign_pods_total", foreign + 1)):
            wait_for(f"{name_of_metric} to be {wanted}", lambda m=name_of_metric, w=wanted: self.operator.metric(m) == w,
                     detail=lambda m=name_of_metric: str(self.operator.metric(m)))
        self.assertEqual(job.lease()["id"], self.api.get("nodes", name)["metadata"]["labels"][LEASE_LABEL])
        self.api.delete("pods", "foreign", self.namespace, gracePeriodSeconds=0)

    def test_one_that_comes_to_a_quiet_node_is_told_at_once(self):
        """Nothing on the node changes."""
        job = self.start(1)
        foreign = self.operator.metric("gpupool_foreign_pods_total")
        self.invite(job)
        wait_for("the foreign pod to be counted", lambda: self.operator.metric("gpupool_foreign_pods_total") == foreign + 1,
                 limit=40)  # less than the 60 s after which each node is looked at again
        self.wait_event(job, "ForeignPod")
        self.api.delete("pods", "foreign", self.namespace, gracePeriodSeconds=0)


class GraceTest(NodeCase):
    pool_spec = {"maxTerminationGracePeriodSeconds": 7}

    def test_the_pool_caps_how_long_workers_take_to_end(self):
        for name, gpus in (("alone", 1), ("gang", 2)):
            job = self.submit(name, gpus=gpus, pod={"terminationGracePeriodSeconds": 3600})
            job.wait_phase("Running")
            self.assertEqual({7}, {p["spec"]["terminationGracePeriodSeconds"] for p in job.pods()})
