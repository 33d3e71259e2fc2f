# SPDX-License-Identifier: Apache-2.0
"""GpuPools: what they count, which nodes they have, and how they end."""

from tests.kit.manifests import pool_manifest, shell
from tests.kit.names import GPU
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import wait_for


class CountTest(FakeClusterCase):
    def test_nodes_are_counted(self):
        first, second, third = self.node_names
        self.wait_pool(nodes={"total": 3, "ready": 3, "available": 3}, gpus={"total": 3, "available": 3})
        self.api.patch("nodes", first, {"spec": {"unschedulable": True}})
        self.wait_pool(nodes={"total": 3, "ready": 3, "cordoned": 1, "available": 2})
        self.nodes.set_ready(second, "False")
        self.wait_pool(nodes={"ready": 2, "unready": 1, "cordoned": 1, "available": 1})
        job = self.submit("counted")
        job.wait_phase("Running")
        self.assertEqual([third], job.nodes())
        self.wait_pool(nodes={"leased": 1, "available": 0}, gpus={"leased": 1, "available": 0}, jobs={"running": 1})
        self.finish(job)
        job.wait_condition("Complete")
        self.api.patch("nodes", first, {"spec": {"unschedulable": None}})
        self.nodes.set_ready(second, "True")
        self.wait_pool(nodes={"ready": 3, "cordoned": 0, "leased": 0, "available": 3}, jobs={"running": 0})

    def test_a_node_joins_and_leaves_by_its_label(self):
        name = self.node_names[0]
        self.api.patch("nodes", name, {"metadata": {"labels": dict.fromkeys(self.label)}})
        self.wait_pool(nodes={"total": 2})
        self.api.patch("nodes", name, {"metadata": {"labels": self.label}})
        self.wait_pool(nodes={"total": 3})

    def test_more_gpus(self):
        self.nodes.set_gpus(self.node_names[0], 4)
        self.wait_pool(gpus={"total": 6, "available": 6})

    def test_gpus_that_pods_of_others_hold_are_not_given_away(self):
        name = self.node_names[0]
        self.api.create("pods", {"metadata": {"name": "theirs", "namespace": self.namespace}, "spec": {
            "nodeName": name, "containers": [shell("true", resources={"limits": {GPU: "1"}})]}})
        self.wait_pool(nodes={"total": 3, "available": 2}, gpus={"total": 3, "available": 2})
        self.assertEqual([{"name": name, "reason": f"1 of 1 GPU is held by pods of others ({self.namespace}/theirs)"}],
                         self.pool_status()["excluded"])
        job = self.submit("elsewhere")
        job.wait_phase("Running")
        self.assertEqual(self.node_names[1:2], job.nodes())
        large = self.submit("large", gpus=3)
        self.assertIn("could hold 3 workers", large.wait_reason("WaitingForNodes")["message"])
        self.finish(job)
        self.api.delete("pods", "theirs", self.namespace, gracePeriodSeconds=0)
        large.wait_phase("Running")

    def test_names_that_do_not_match_are_excluded(self):
        self.api.patch("gpupools", self.pool, {"spec": {"nodeNamePattern": f"^{self.node_names[0]}$"}})
        self.wait_pool(nodes={"total": 1})
        excluded = {e["name"] for e in self.pool_status()["excluded"]}
        self.assertEqual(set(self.node_names[1:]), excluded)


class MembershipTest(FakeClusterCase):
    def test_node_of_two_pools_belongs_to_the_older(self):
        younger = self.pool + "-younger"
        wait_for("the next second: pools are ordered by their creation time", self._second_has_passed)
        self.api.create("gpupools", pool_manifest(younger, self.label))
        wait_for("the younger pool to say so", lambda: self.pool_ready(younger).get("reason") == "NodesInOlderPool",
                 detail=lambda: str(self.pool_status(younger)))
        self.wait_pool(nodes={"total": 3})
        self.wait_pool(younger, nodes={"total": 0})
        excluded = self.pool_status(younger)["excluded"]
        self.assertEqual(self.node_names, [e["name"] for e in excluded])
        self.assertIn(self.pool, str(excluded))
        self.api.delete("gpupools", self.pool)
        self.wait_pool(younger, nodes={"total": 3})

    def _second_has_passed(self):
        created = self.api.get("gpupools", self.pool)["metadata"]["creationTimestamp"]
        probe = pool_manifest(self.pool + "-probe", self.label)
        return self.api.create("gpupools", probe, dryRun="All")["metadata"]["creationTimestamp"] > created


class DeletionTest(FakeClusterCase):
    def test_pool_waits_for_its_jobs_and_names_them(self):
        job = self.submit("last")
        job.wait_phase("Running")
        queued = self.submit("too-late", gpus=3)
        queued.wait_reason("WaitingForNodes")
        self.api.delete("gpupools", self.pool)
        ready = wait_for("the pool to say that it stops", lambda: self.pool_ready().get("reason") == "PoolStopping" and
                         self.pool_ready(), detail=lambda: str(self.pool_status()))
        self.assertIn(f"{self.namespace}/last", ready["message"])
        queued.wait_reason("PoolStopping")
        self.assertEqual("Running", job.phase())
        self.finish(job)
        job.wait_condition("Complete")
        wait_for("the pool to be gone", lambda: not self.api.find("gpupools", self.pool))
        queued.wait_reason("PoolNotFound")

    def test_empty_pool_goes_at_once(self):
        self.api.delete("gpupools", self.pool)
        wait_for("the pool to be gone", lambda: not self.api.find("gpupools", self.pool))


class ReadyTest(FakeClusterCase):
    node_count = 0

    def wait_ready(self, value, reason):
        return wait_for(f"Ready={value} by {reason}", lambda: (self.pool_ready().get("status"), self.pool_ready().get("reason"))
                        == (value, reason) and self.pool_ready()["message"], detail=lambda: str(self.pool_status()))

    def test_needs_nodes_with_gpus(self):
        message = self.wait_ready("False", "NoMatchingNodes")
        label = "=".join(*self.label.items())
        self.assertIn(f"to add one: kubectl label node NAME {label}", message)
        name = f"{self.pool}-late"
        self.nodes.add(name, self.label, gpus=0)
        self.assertIn(f"{name}: has no allocatable nvidia.com/gpu", self.wait_ready("False", "NoMatchingGpus"))
        self.add_node(self.pool + "-well")
        self.assertEqual("2 nodes", self.wait_ready("True", "MembersCounted"))


class BadPoolTest(FakeClusterCase):
    def check_stalled(self, change, reason, mend):
        self.api.patch("gpupools", self.pool, {"spec": change})
        wait_for(f"the pool to be stalled by {reason}", lambda: self.pool_ready().get("reason") == reason,
                 detail=lambda: str(self.pool_status()))
        job = self.submit("waits")
        job.wait_reason("PoolStalled")
        self.api.patch("gpupools", self.pool, {"spec": mend})
        job.wait_phase("Running")
        wait_for("the pool to be ready", lambda: self.pool_ready()["status"] == "True",
                 detail=lambda: str(self.pool_status()))

    def test_pattern_that_does_not_compile(self):
        self.check_stalled({"nodeNamePattern": "gpu-[a-z"}, "InvalidNodeNamePattern", {"nodeNamePattern": None})

    def test_pattern_made_to_backtrack(self):
        """A backtracking engine would need years for this one."""
        self.api.patch("gpupools", self.pool, {"spec": {"nodeNamePattern": "^(([-a-z0-9]+)+)+!$"}})
        self.wait_pool(nodes={"total": 0})
        self.api.patch("gpupools", self.pool, {"spec": {"nodeNamePattern": None}})
        self.wait_pool(nodes={"total": 3})
        job = self.submit("goes-on")
        job.wait_phase("Running")
