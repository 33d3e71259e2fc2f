# SPDX-License-Identifier: Apache-2.0
"""Jobs that share GPUs: where they go, how many fit, and who waits."""

import time

from tests.kit.played.sharing_case import SharingCase
from tests.kit.waiting import holds_for, wait_for


class PlacementTest(SharingCase):
    def test_thirty_jobs_fill_three_gpus_and_the_next_waits(self):
        jobs = [self.submit_slices(f"one-{i}") for i in range(30)]
        for job in jobs:
            job.wait_phase("Running")
        self.wait_slices(30, 0)
        self.assertEqual({(name, 0): 10 for name in self.node_names}, self.plugins.peak)
        late = self.submit_slices("late")
        late.wait_reason("WaitingForNodes")
        self.assertIsNone(late.lease())
        self.finish(jobs[7])
        begin = time.monotonic()
        late.wait_phase("Running")
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual(jobs[7].status()["nodeNames"], late.status()["nodeNames"])
        self.assertEqual({1}, {j.status()["attempts"] for j in [*jobs, late]})

    def test_a_job_with_three_slices_is_on_one_gpu(self):
        job = self.submit("three", slice={"memory": "4Gi", "cores": 30})
        job.wait_phase("Running")
        lease = job.lease()
        self.assertEqual(3, lease["slices"])
        self.assertEqual([(self.node_names[0], 1)], [(n["name"], n["workers"]) for n in lease["nodes"]])
        pod = self.worker(job)
        self.assertEqual("3", pod["spec"]["containers"][0]["resources"]["limits"]["gpupool.dev/vgpu"])
        self.assertEqual("3", pod["metadata"]["labels"]["gpupool.dev/slices"])
        self.wait_slices(30, 27)
        self.finish(job)
        job.wait_condition("Complete")
        self.wait_slices(30, 30)

    def test_jobs_are_packed(self):
        first = self.submit_slices("first", 4)
        first.wait_phase("Running")
        whole = self.submit("whole")
        whole.wait_phase("Running")
        self.assertEqual(10, whole.lease()["slices"])
        self.assertNotEqual(first.nodes(), whole.nodes())
        third = self.submit_slices("third", 6)
        third.wait_phase("Running")
        self.assertEqual(first.nodes(), third.nodes(), "not on the fullest GPU that can hold it")

    def test_four_workers_over_two_nodes(self):
        for i, name in enumerate(self.node_names):
            self.submit_slices(f"holder-{i}", 4, nodes=[name]).wait_phase("Running")
        gang = self.submit_slices("gang", 3, gpus=4)
        gang.wait_phase("Running")
        self.assertEqual([2, 2], [n["workers"] for n in gang.lease()["nodes"]])
        where = [p["spec"]["nodeName"] for p in gang.pods()]
        self.assertEqual([2, 2], sorted(where.count(name) for name in set(where)))
        flags = self.worker(gang, 0)["spec"]["containers"][0]["command"]
        self.assertTrue({"--nnodes=4", "--nproc=1"}.issubset(flags), flags)
        self.finish(gang, ranks=range(4))
        gang.wait_condition("Complete")

    def test_all_workers_or_none(self):
        holder = self.submit_slices("holder", 8, gpus=3)
        holder.wait_phase("Running")
        gang = self.submit_slices("gang", 2, gpus=4)
        gang.wait_reason("WaitingForNodes")
        small = self.submit_slices("small")
        small.wait_behind_others()
        holds_for("none of the gang's workers starts", lambda: not gang.pods(), 1)
        self.finish(holder, ranks=range(3))
        gang.wait_phase("Running")
        small.wait_phase("Running")

    def test_a_restarted_operator_knows_who_has_what(self):
        jobs = [self.submit_slices(f"before-{i}", 5) for i in range(5)]
        for job in jobs:
            job.wait_phase("Running")
        self.restart_operator()
        fits, waits = self.submit_slices("fits", 5), self.submit_slices("waits", 1)
        fits.wait_phase("Running")
        waits.wait_reason("WaitingForNodes")
        self.assertEqual({1}, {j.status()["attempts"] for j in jobs})


class RaceTest(SharingCase):
    node_count = 2
    gpus = 2

    def test_racing_jobs_never_overbook(self):
        jobs = [self.submit_slices(f"racer-{i}", (i % 4) + 1) for i in range(24)]
        done = set()
        while len(done) < len(jobs):
            job = wait_for("one of the racers to run", lambda: next(
                (j for j in jobs if j.name not in done and j.phase() == "Running"), None), detail=self.operator.tail)
            self.finish(job)
            done.add(job.name)
        for job in jobs:
            status = job.wait_condition("Complete")
            self.assertEqual(1, status["attempts"], f"{job.name} was refused: {status}")


class GpusOneByOneTest(SharingCase):
    """The node's GPUs are not cut: jobs share the node, not its GPUs."""
    node_count = 1
    gpus = 8
    split = 1
    pool_spec = {"sharing": {"deviceSplitCount": 1}}

    def test_jobs_of_several_sizes_fill_a_node(self):
        jobs = [self.submit(f"job-{i}", gpus=size, gpusPerWorker=size) for i, size in enumerate((1, 1, 1, 4))]
        for job in jobs:
            job.wait_phase("Running")
        self.wait_slices(8, 1)
        late = self.submit("late", gpus=2, gpusPerWorker=2)
        late.wait_reason("WaitingForNodes")
        self.finish(jobs[0])
        late.wait_phase("Running")
        self.wait_slices(8, 0)
        self.assertEqual({self.node_names[0]}, {node for job in [*jobs[1:], late] for node in job.nodes()})


class SeveralGpusTest(SharingCase):
    node_count = 1
    gpus = 2

    def test_slices_are_counted_per_gpu(self):
        """Eight slices are free, and no five of them on one GPU."""
        six = [self.submit_slices(f"six-{i}", 6) for i in range(2)]
        for job in six:
            job.wait_phase("Running")
        five = self.submit_slices("five", 5)
        five.wait_reason("WaitingForNodes")
        self.finish(six[0])
        five.wait_phase("Running")

    def test_whole_gpus(self):
        pair = self.submit("pair", gpus=2, gpusPerWorker=2)
        pair.wait_phase("Running")
        self.assertEqual(20, pair.lease()["slices"])
        self.wait_pool(slices={"total": 20, "free": 0}, gpus={"leased": 2, "available": 0})
        self.finish(pair)
        pair.wait_condition("Complete")
        single = self.submit("single")
        single.wait_phase("Running")
        self.wait_slices(20, 10)


class RefusalTest(SharingCase):
    def wait_second_attempt(self, job):
        """The reason is PlacementRefused for a moment only; the event stays."""
        status = job.wait("the second attempt to run",
                          lambda s: s.get("attempts") == 2 and s.get("phase") == "Running" and s)
        wait_for("the event", lambda: "PlacementRefused" in {e["reason"] for e in job.events()}, detail=job.show)
        return status

    def test_a_refused_worker_is_placed_again_uncharged(self):
        self.plugins.refused = 1
        job = self.submit_slices("refused", backoffLimit=0)
        status = self.wait_second_attempt(job)
        self.assertEqual((2, 0), (status["attempts"], status.get("failures", 0)))
        self.finish(job)
        job.wait_condition("Complete")

    def test_a_gang_with_a_refused_worker_starts_again_as_a_whole(self):
        self.plugins.refused = 1
        gang = self.submit_slices("gang", 2, gpus=3, backoffLimit=0)
        status = self.wait_second_attempt(gang)
        self.assertEqual((2, 0), (status["attempts"], status.get("failures", 0)))
        self.assertEqual(3, len(gang.pods()))

    def test_what_reports_do_not_show_yet_is_counted(self):
        self.plugins.silent.update(self.node_names)
        jobs = [self.submit_slices(f"blind-{i}", 5) for i in range(6)]
        for job in jobs:
            job.wait_phase("Running")
        waits = self.submit_slices("waits")
        waits.wait_reason("WaitingForNodes")
        self.assertEqual({1}, {j.status()["attempts"] for j in jobs})
        self.finish(jobs[0])
        waits.wait_phase("Running")
