# SPDX-License-Identifier: Apache-2.0
"""Sharing pools themselves: marks on nodes, counts, unhealthy GPUs, and jobs that do not belong there."""

from tests.kit.manifests import pool_manifest
from tests.kit.played.sharing_case import SharingCase
from tests.kit.waiting import wait_for

FOREIGN_TAINT = {"key": "example.org/x", "value": "1", "effect": "PreferNoSchedule"}


class MarkTest(SharingCase):
    def test_members_are_marked_and_others_marks_stay(self):
        name = self.node_names[0]
        self.wait_marks(*self.node_names)
        taints = self.api.get("nodes", name)["spec"]["taints"]
        self.api.patch("nodes", name, {"spec": {"taints": [FOREIGN_TAINT, *taints]}})
        self.api.patch("nodes", name, {"metadata": {"labels": dict.fromkeys(self.label)}})
        self.wait_marks(*self.node_names[1:])
        self.assertEqual([FOREIGN_TAINT], self.api.get("nodes", name)["spec"]["taints"])
        self.api.patch("nodes", name, {"metadata": {"labels": self.label}})
        self.wait_marks(*self.node_names)

    def test_marks_removed_by_hand_are_put_back(self):
        self.wait_marks(*self.node_names)
        self.api.patch("nodes", self.node_names[1], {"spec": {"taints": None}})
        self.wait_marks(*self.node_names)

    def test_marks_stay_while_a_worker_runs(self):
        job = self.submit_slices("stays")
        job.wait_phase("Running")
        name = job.nodes()[0]
        self.api.patch("nodes", name, {"metadata": {"labels": dict.fromkeys(self.label)}})
        self.wait_pool(nodes={"total": 2})
        self.wait_marks(*self.node_names)
        self.finish(job)
        job.wait_condition("Complete")
        self.wait_marks(*[n for n in self.node_names if n != name])

    def test_the_pool_goes_and_its_marks_with_it(self):
        job = self.submit_slices("last")
        job.wait_phase("Running")
        self.api.delete("gpupools", self.pool)
        wait_for("the pool to say that it stops", lambda: self.pool_ready().get("reason") == "PoolStopping")
        self.wait_marks(*self.node_names)
        self.finish(job)
        job.wait_condition("Complete")
        wait_for("the pool to be gone", lambda: not self.api.find("gpupools", self.pool))
        self.wait_marks()

    def test_a_pool_that_stops_sharing_leases_whole_nodes(self):
        self.api.patch("gpupools", self.pool, {"spec": {"sharing": None}})
        self.wait_marks()
        for name in self.node_names:
            self.nodes.set_gpus(name, 1)
        job = self.submit("whole-node")
        job.wait_phase("Running")
        self.assertNotIn("slices", job.lease())
        self.assertEqual(1, len(self.nodes.traces()[:1]))
        self.api.patch("gpupools", self.pool, {"spec": {"sharing": {}}})
        self.wait_marks(*[n for n in self.node_names if n not in job.nodes()])
        self.finish(job)
        job.wait_condition("Complete")
        self.wait_marks(*self.node_names)

    def test_model_and_memory_become_labels(self):
        wait_for("the labels", lambda: self.labels(self.node_names[0]) == ("TEST-GPU", "16000Mi"),
                 detail=lambda: str(self.labels(self.node_names[0])))
        self.api.patch("gpupools", self.pool, {"spec": {"sharing": None, "gpus": {"models": ["TEST-GPU"]}}})
        self.nodes.set_gpus(self.node_names[0], 1)
        self.wait_pool(nodes={"available": 1})

    def labels(self, name):
        labels = self.api.get("nodes", name)["metadata"]["labels"]
        return labels.get("gpupool.dev/gpu-model"), labels.get("gpupool.dev/gpu-memory")


class CountTest(SharingCase):
    def test_slices_and_gpus_are_counted(self):
        self.wait_pool(slices={"total": 30, "free": 30}, gpus={"total": 3, "available": 3, "leased": 0},
                       nodes={"total": 3, "available": 3, "leased": 0})
        job = self.submit_slices("counted", 10)
        job.wait_phase("Running")
        self.wait_pool(slices={"total": 30, "free": 20}, gpus={"total": 3, "available": 2, "leased": 1},
                       nodes={"available": 2, "leased": 1}, jobs={"running": 1})

    def test_an_unhealthy_gpu_shrinks_the_pool(self):
        name = self.node_names[0]
        job = self.submit_slices("victim", nodes=[name])
        job.wait_phase("Running")
        self.plugins.set_health(name, 0, False, "Xid79")
        self.wait_slices(20, 20)
        self.assertIn("Xid79", self.excluded()[name])
        other = self.submit_slices("other")
        other.wait_phase("Running")
        self.assertNotEqual([name], other.nodes())
        self.assertEqual("Running", job.phase())
        self.plugins.set_health(name, 0, True)
        self.wait_slices(30, 28)
        self.assertNotIn(name, self.excluded())

    def test_a_gpu_that_breaks_the_promise_is_not_used(self):
        self.api.patch("gpupools", self.pool, {"spec": {"sharing": {"deviceSplitCount": 5}}})
        self.wait_slices(0, 0)
        self.assertEqual(set(self.node_names), set(self.excluded()))
        self.assertIn("promises 5", self.excluded()[self.node_names[0]])
        job = self.submit_slices("waits")
        job.wait_reason("WaitingForNodes")
        self.api.patch("gpupools", self.pool, {"spec": {"sharing": {"deviceSplitCount": 10}}})
        job.wait_phase("Running")

    def test_a_node_without_a_report_is_not_used(self):
        self.api.delete("gpunodes", self.node_names[0])
        self.wait_slices(20, 20)
        self.assertIn("GpuNode", self.excluded()[self.node_names[0]])

    def excluded(self):
        return {e["name"]: e["reason"] for e in self.pool_status().get("excluded", [])}


class WrongJobTest(SharingCase):
    def test_a_worker_that_no_gpu_can_hold(self):
        job = self.submit_slices("huge", 11)
        job.wait_reason("TooLarge")
        much = self.submit("much", slice={"memory": "20Gi"})
        much.wait_reason("TooLarge")

    def test_a_slice_in_an_exclusive_pool(self):
        self.api.create("gpupools", pool_manifest(self.pool + "-whole", {"nobody": "has-it"}))
        job = self.submit_slices("lost", pool=self.pool + "-whole")
        job.wait_reason("SliceInExclusivePool")
        self.assertEqual("True", job.condition("Stalled"))
        job.patch(pool=self.pool)
        job.wait_phase("Running")
        self.assertEqual("False", job.condition("Stalled"))

    def test_the_template_may_not_ask_for_slices_itself(self):
        job = self.submit("greedy", slice={"count": 1}, container={
            "name": "w", "image": "i:1", "command": ["true"], "resources": {"limits": {"gpupool.dev/vgpu": "1"}}})
        job.wait_reason("InvalidTemplate")


class LossTest(SharingCase):
    def test_a_lost_node_is_left_and_the_job_placed_again(self):
        gang = self.submit_slices("gang", 6, gpus=2, backoffLimit=0)
        gang.wait_phase("Running")
        victim = gang.nodes()[0]
        self.kubelet.dead.add(victim)
        self.nodes.set_ready(victim, "Unknown")
        gang.wait("another lease", lambda s: (s.get("lease") or {}).get("attempt") == 1)
        gang.wait_phase("Running")
        self.assertNotIn(victim, gang.nodes())
        self.assertEqual([victim], [lost["name"] for lost in gang.lease()["lost"]])
        self.assertEqual(0, gang.status().get("failures", 0))
        self.kubelet.dead.clear()
        self.nodes.set_ready(victim, "True")
        gang.wait("the lost node to be settled", lambda s: not (s.get("lease") or {}).get("lost"))
        self.finish(gang, ranks=(0, 1))
        gang.wait_condition("Complete")

    def test_crash_suspend_and_deadline(self):
        job = self.submit_slices("crashes", 4, backoffLimit=1)
        job.wait_phase("Running")
        self.finish(job, 3)
        job.wait("the second attempt", lambda s: s.get("attempts") == 2 and s.get("phase") == "Running")
        self.assertEqual(1, job.status()["failures"])
        job.patch(suspend=True)
        job.wait_phase("Suspended")
        self.wait_slices(30, 30)
        job.patch(suspend=False, activeDeadlineSeconds=2)
        job.wait_phase("Running")
        status = job.wait_condition("Failed")
        self.assertEqual("DeadlineExceeded", status["reason"])
        self.wait_slices(30, 30)
