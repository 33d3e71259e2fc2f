# SPDX-License-Identifier: Apache-2.0
"""Why a job waits, and when it stops waiting."""

from tests.kit.jobs import JobHandle
from tests.kit.manifests import shell
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import wait_for


class WaitingTest(FakeClusterCase):
    def check_waits(self, reason, text, **spec):
        job = self.submit("waits", **spec)
        status = job.wait_reason(reason)
        self.assertEqual("Queued", status["phase"])
        self.assertIn(text, status["message"])
        self.assertIsNone(job.lease())
        self.assertEqual(("True", "False"), (job.condition("Reconciling"), job.condition("Stalled")))
        self.assertEqual([], self.nodes.traces())
        self.check_others_run()
        return job

    def check_others_run(self):
        other = self.submit("other")
        other.wait_phase("Running")
        self.finish(other)
        other.wait_condition("Complete")

    def test_too_large(self):
        self.check_waits("TooLarge", "4 workers", gpus=4)

    def test_worker_too_large_for_every_node(self):
        self.check_waits("TooLarge", "1 worker with 2 GPUs: the largest node has 1 GPU", gpus=2, gpusPerWorker=2)

    def test_label_that_no_node_has(self):
        job = self.check_waits("NoMatchingNode", f"no node of pool {self.pool} has label zone=b",
                               pod={"nodeSelector": {"zone": "b"}})
        self.api.patch("nodes", self.node_names[1], {"metadata": {"labels": {"zone": "b"}}})
        job.wait_phase("Running")
        self.assertEqual([self.node_names[1]], job.nodes())

    def test_cpus_that_no_node_has(self):
        self.check_waits("TooLarge", "the largest node has 8 CPUs, a worker asks for 64 CPUs",
                         container=shell("true", resources={"limits": {"cpu": "64"}}))

    def test_affinity_and_requests_choose_the_node(self):
        self.api.patch("nodes", self.node_names[1], {"status": {"allocatable": {"memory": "1Gi"}}}, sub="status")
        for name, size in zip(self.node_names, ("1", "2", "3")):  # after the memory: nodes are seen in this order
            self.api.patch("nodes", name, {"metadata": {"labels": {"size": size}}})
        larger = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "size", "operator": "Gt", "values": ["1"]}]}]}}}
        job = self.submit("picky", container=shell("true", resources={"requests": {"memory": "2Gi"}}),
                          pod={"affinity": larger})
        job.wait_phase("Running")
        self.assertEqual([self.node_names[2]], job.nodes())

    def test_one_rack_is_required(self):
        for name, rack in zip(self.node_names, ("r1", "r2", "r2")):
            self.api.patch("nodes", name, {"metadata": {"labels": {"rack": rack}}})
        pool = self.api.patch("gpupools", self.pool, {"spec": {"near": {"labels": ["rack"], "required": True}}})
        wait_for("the operator to see the change of the pool", lambda: self.api.get("gpupools", self.pool)["status"].get(
            "observedGeneration") == pool["metadata"]["generation"])
        self.check_waits("TooLarge", "3 workers with 1 GPU each on nodes with the same rack: there is room for 2", gpus=3)
        pair = self.submit("pair", gpus=2)
        pair.wait_phase("Running")
        self.assertEqual(self.node_names[1:], pair.nodes())
        later = self.submit("later", gpus=2)
        status = later.wait_reason("WaitingForNodes")
        self.assertIn("2 workers with 1 GPU each on nodes with the same rack", status["message"])
        anywhere = self.submit("anywhere", near={"labels": []})  # one node of r1, which is too small for `later`
        anywhere.wait_phase("Running")
        self.assertEqual(self.node_names[:1], anywhere.nodes())
        self.finish(pair, ranks=range(2))
        later.wait_phase("Running")
        self.assertEqual(self.node_names[1:], later.nodes())

    def test_few_racks_are_preferred(self):
        for name, rack in zip(self.node_names, ("r1", "r2", "r2")):
            self.api.patch("nodes", name, {"metadata": {"labels": {"rack": rack}}})
        self.check_waits("TooLarge", "there is room for 2", gpus=3, near={"labels": ["rack"], "required": True}).delete()
        near = self.submit("near", gpus=2, near={"labels": ["rack"]})
        near.wait_phase("Running")
        self.assertEqual(self.node_names[1:], near.nodes())
        self.finish(near, ranks=range(2))
        near.wait_condition("Complete")
        far = self.submit("far", gpus=3, near={"labels": ["rack"]})
        far.wait_phase("Running")

    def test_no_such_node(self):
        self.check_waits("NoSuchNode", "elsewhere", nodes=["elsewhere"])

    def test_no_matching_model(self):
        for name, model in zip(self.node_names, ("A", "A", "B")):
            self.api.patch("nodes", name, {"metadata": {"labels": {"gpupool.dev/gpu-model": model}}})
        self.api.patch("gpupools", self.pool, {"spec": {"gpus": {"homogeneous": True}}})
        wait_for("both models to be counted", lambda: len(
            self.pool_status().get("gpus", {}).get("models", [])) == 2)
        self.check_waits("NoMatchingModel", "no single GPU model", gpus=3)
        two = self.submit("two", gpus=2)
        two.wait_phase("Running")
        self.assertEqual(self.node_names[:2], two.nodes())

    def test_model_that_nobody_has(self):
        self.api.patch("gpupools", self.pool, {"spec": {"gpus": {"models": ["H100"]}}})
        self.wait_pool(nodes={"available": 0})
        job = self.submit("picky")
        job.wait_reason("NoMatchingModel")
        self.api.patch("nodes", self.node_names[1], {"metadata": {"labels": {"nvidia.com/gpu.product": "H100"}}})
        job.wait_phase("Running")
        self.assertEqual([self.node_names[1]], job.nodes())

    def test_waiting_for_nodes_and_behind_others(self):
        first = self.submit("first")
        first.wait_phase("Running")
        large = self.submit("large", gpus=3)
        large.wait_reason("WaitingForNodes")
        small = self.submit("small")
        small.wait_behind_others()
        self.finish(first)
        large.wait_phase("Running")
        small.wait_reason("WaitingForNodes")
        self.finish(large, ranks=(0, 1, 2))
        small.wait_phase("Running")

    def test_cordoned_and_tainted_nodes_are_not_taken(self):
        foreign = {"key": "example.org/reserved", "value": "x", "effect": "NoSchedule"}
        self.api.patch("nodes", self.node_names[0], {"spec": {"unschedulable": True}})
        self.api.patch("nodes", self.node_names[1], {"spec": {"taints": [foreign]}})
        self.nodes.set_ready(self.node_names[2], "False")
        self.wait_pool(nodes={"available": 0})
        job = self.submit("waits")
        job.wait_reason("WaitingForNodes")
        tolerant = self.submit("tolerant", pod={"tolerations": [{"key": "example.org/reserved", "operator": "Exists"}]})
        tolerant.wait_phase("Running")
        self.assertEqual([self.node_names[1]], tolerant.nodes())
        self.assertIsNone(job.lease())


class OrderTest(FakeClusterCase):
    node_count = 1

    def test_two_jobs_race_for_one_node(self):
        jobs = [self.submit(f"racer-{i}") for i in range(4)]
        done = []
        for _ in jobs:
            job = wait_for("one of the racers to run", lambda: next(
                (j for j in jobs if j not in done and j.phase() == "Running"), None))
            holders = [j.name for j in jobs if j.lease()]
            self.assertEqual([job.name], holders)
            self.finish(job)
            job.wait_condition("Complete")
            done.append(job)
        self.assertEqual([j.name for j in jobs], [j.name for j in done], "not first come first served")

    def test_higher_priority_first(self):
        holder = self.submit("holder")
        holder.wait_phase("Running")
        low, high = self.submit("low", priority=1), self.submit("high", priority=2)
        high.wait_reason("WaitingForNodes")
        low.wait_reason("WaitingForNodes")
        self.finish(holder)
        high.wait_phase("Running")
        self.assertIsNone(JobHandle(self.api, "low", self.namespace).lease())
