# SPDX-License-Identifier: Apache-2.0
"""Whole GPUs that are rented one by one, on nodes of a device plugin that reports nothing to gpupool."""

from tests.kit.api import Object
from tests.kit.jobs import JobHandle
from tests.kit.manifests import pool_manifest, shell
from tests.kit.names import GPU, POOL_LABEL, POOL_TAINT
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for


class SingleGpuTest(FakeClusterCase):
    pool_spec = {"sharing": {"unit": "GPU"}}
    node_count = 2

    def add_node(self, name: str) -> None:
        self.nodes.add(name, self.label, gpus=8)

    def clean(self) -> None:
        super().clean()
        wait_for("the marks of the pool to go", lambda: POOL_TAINT not in str(self.api.list("nodes")))

    def start(self, name: str, gpus: int, per_worker: int | None = None, **options: object) -> JobHandle:
        job = self.submit(name, gpus=gpus, gpusPerWorker=per_worker or gpus, **options)
        job.wait_phase("Running")
        return job

    def wait_gpus(self, leased: int, available: int) -> None:
        self.wait_pool(gpus={"total": 16, "leased": leased, "available": available})

    def hold(self, node: str, gpus: int) -> None:
        """By a pod of somebody else."""
        self.api.create("pods", {"metadata": {"name": "foreign", "namespace": self.namespace}, "spec": {
            "nodeName": node, "containers": [shell("sleep 3600", resources={"limits": {GPU: str(gpus)}})]}})

    def test_workers_of_one_to_eight_gpus_side_by_side(self):
        jobs = [self.start(f"of-{gpus}-{i}", gpus) for i, gpus in enumerate((1, 2, 4, 1))]
        self.assertEqual([self.node_names[:1]] * 4, [job.nodes() for job in jobs])
        lease, pod = jobs[2].lease(), self.worker(jobs[2])
        self.assertEqual((4, "GPU"), (lease["slices"], lease["unit"]))
        self.assertEqual("4", pod["spec"]["containers"][0]["resources"]["limits"][GPU])
        self.wait_gpus(8, 8)
        self.assertNotIn("slices", self.pool_status())
        large = self.start("of-8", 8)
        self.assertEqual(self.node_names[1:], large.nodes())
        late = self.submit("late", gpus=2, gpusPerWorker=2)
        self.assertIn("for GPUs for 1 worker with 2 GPUs", late.wait_reason("WaitingForNodes")["message"])
        self.finish(jobs[0])
        jobs[0].wait_condition("Complete")
        holds_for("one free GPU not to be two", lambda: late.phase() == "Queued", 2)
        self.finish(jobs[3])
        late.wait_phase("Running")
        self.assertEqual(self.node_names[:1], late.nodes())
        self.wait_gpus(16, 0)

    def test_the_fullest_node_that_suffices_is_taken(self):
        self.start("four", 4)
        six = self.start("six", 6)
        self.assertEqual(self.node_names[1:], six.nodes())
        self.assertEqual(self.node_names[1:], self.start("two", 2).nodes(), "the hole of four is broken")
        self.assertEqual(self.node_names[:1], self.start("other-four", 4).nodes())

    def test_a_gang_has_several_workers_on_a_node(self):
        self.start("two", 2)
        gang = self.start("gang", 12, 3)
        self.assertEqual([2, 2], [node["workers"] for node in gang.lease()["nodes"]])
        self.assertEqual({"3"}, {p["spec"]["containers"][0]["resources"]["limits"][GPU] for p in gang.pods()})
        self.wait_gpus(14, 2)
        self.finish(gang, ranks=range(4))
        gang.wait_condition("Complete")
        self.wait_gpus(2, 14)

    def test_gpus_of_a_foreign_pod_are_not_given_away(self):
        self.hold(self.node_names[0], 7)
        wait_for("the held GPUs to be told", lambda: "7 of 8 GPUs are held by pods of others" in str(
            self.pool_status().get("excluded")), detail=lambda: str(self.pool_status()))
        self.assertEqual(self.node_names[1:], self.start("two", 2).nodes())
        self.assertEqual(self.node_names[:1], self.start("one", 1).nodes())
        self.wait_gpus(3, 6)
        gang = self.submit("large", gpus=16, gpusPerWorker=8)
        self.assertIn("only with", gang.wait_reason("WaitingForNodes")["message"])
        self.assertEqual(self.node_names[1:], self.start("six", 6).nodes())  # the large job keeps nobody waiting
        self.api.delete("pods", "foreign", self.namespace, gracePeriodSeconds=0)
        self.wait_gpus(9, 7)

    def test_an_operator_that_is_killed_gives_no_gpu_twice(self):
        jobs = [self.start("five", 5), self.start("seven", 7), self.start("three", 3)]
        before = [job.lease()["id"] for job in jobs]
        self.operator.kill()
        late = self.submit("late", gpus=2, gpusPerWorker=2)
        self.operator.start()
        late.wait_reason("WaitingForNodes")
        self.assertEqual(before, [job.lease()["id"] for job in jobs])
        self.wait_gpus(15, 1)
        self.finish(jobs[2])
        late.wait_phase("Running")
        self.assertEqual([1, 1, 1, 1], [job.status()["attempts"] for job in [*jobs, late]])

    def test_the_same_job_runs_in_a_pool_of_nodes(self):
        label = {POOL_LABEL: self.pool + "-whole"}
        name = self.pool + "-w"
        self.nodes.add(name, label, gpus=8)
        self.api.create("gpupools", pool_manifest(self.pool + "-whole", label))
        container: Object = shell("true", resources={"limits": {GPU: "2"}})
        for pool, node in ((self.pool, self.node_names[0]), (self.pool + "-whole", name)):
            job = self.submit("in-" + pool, gpus=2, gpusPerWorker=2, pool=pool, container=container)
            job.wait_phase("Running")
            self.assertEqual([node], job.nodes())
            self.finish(job)
            job.wait_condition("Complete")

    def test_what_does_not_fit_is_told(self):
        large = self.submit("large", gpus=9, gpusPerWorker=9)
        self.assertIn("too small for 1 worker with 9 GPUs: the largest node has 8 GPUs",
                      large.wait_reason("TooLarge")["message"])
        slices = self.submit("slices", slice={"count": 1})
        self.assertIn("rents whole GPUs", slices.wait_reason("SliceInExclusivePool")["message"])
        self.assertEqual("Invalid", slices.phase())

    def test_a_pool_that_begins_to_rent_gpus_leaves_running_jobs_alone(self):
        """And one that ends to."""
        job = self.start("two", 2)
        self.api.patch("gpupools", self.pool, {"spec": {"sharing": None}})
        whole = self.submit("whole", gpus=8, gpusPerWorker=8)
        whole.wait_phase("Running")
        self.assertEqual(self.node_names[1:], whole.nodes())
        self.finish(job)
        job.wait_condition("Complete")
        self.assertEqual(1, job.status()["attempts"])
