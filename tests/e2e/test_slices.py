# SPDX-License-Identifier: Apache-2.0
"""Jobs that share GPUs: three simulated ones, each in ten slices."""

import time

from tests.e2e.gate_case import MOUNT, VOLUME, GateCase
from tests.e2e.slice_node import SHOW, Shown
from tests.kit.manifests import LISTEN, shell
from tests.kit.waiting import wait_for

NODE = "nd"
LEAST_MEMORY, CORES = 2303, 10  # of a slice of an L4


class SliceCase(GateCase):
    def setUp(self):
        super().setUp()
        self.watch_node(NODE, 30)

    def submit_slices(self, name, workers=1, **wanted):
        """A job whose workers end when the gate is opened."""
        script = (LISTEN if workers > 1 else "") + SHOW + f"until [ -e {self.gate} ]; do sleep 0.2; done"
        container = shell(script, volumeMounts=[MOUNT])
        return self.submit(name, container=container, pod={"volumes": [VOLUME]}, pool="shared", gpus=workers,
                           slice=wanted)

    def shown(self, job):
        """{pod: what its container was given}."""
        found = {}
        for pod in job.pods():
            name = pod["metadata"]["name"]
            text = wait_for(f"{name} to show its slices", lambda name=name: self.printed(name), detail=job.show)
            found[name] = (pod["metadata"]["uid"], Shown(text))
        return found

    def printed(self, pod):
        status = self.api.get("pods", pod, self.namespace)["status"]
        started = any("running" in c["state"] or "terminated" in c["state"] for c in status.get("containerStatuses", []))
        text = self.api.log(pod, "worker", self.namespace) if started else ""
        return text if "shown\n" in text else None

    def pool_status(self):
        return self.api.get("gpupools", "shared").get("status", {})

    def slices(self, status):
        return status.get("slices", {}).get("free")


class SliceTest(SliceCase):
    def test_thirty_jobs_at_once_and_the_31st_waits_for_the_first_end(self):
        jobs = [self.submit_slices(f"job-{i}", count=1) for i in range(30)]
        for job in jobs:
            job.wait_phase("Running", limit=180)
        late = self.submit_slices("late", count=1)
        late.wait_reason("WaitingForNodes")
        self.check_each_has_its_own(jobs)
        self.assertEqual("Queued", late.phase())
        wait_for("the pool to show no free slice", lambda: self.slices(self.pool_status()) == 0,
                 detail=lambda: str(self.pool_status()))
        self.open_gate()
        wait_for("the end of a worker", lambda: any(self.has_ended(job.status()) for job in jobs))
        begin = time.monotonic()
        late.wait("a lease", lambda status: status.get("lease") or self.has_ended(status))
        print(f"\n    the 31st job has its slice after {time.monotonic() - begin:.2f} s", flush=True)
        late.wait_condition("Complete")

    @staticmethod
    def has_ended(status):
        return status.get("phase") == "Succeeded" or status.get("workers", {}).get("succeeded") == 1

    def check_each_has_its_own(self, jobs):
        given = {name: shown for job in jobs for name, shown in self.shown(job).items()}
        held = self.node.kubelet_ids()
        by_gpu = {}
        for name, (uid, shown) in given.items():
            (uuid, memory, cores, ids) = shown.devices[0]
            self.assertEqual(([uuid], LEAST_MEMORY, CORES, held[uid]), (shown.visible, memory, cores, ids), name)
            self.assertEqual((f"{LEAST_MEMORY}m", str(CORES)), (shown.limits["CUDA_DEVICE_MEMORY_LIMIT_0"],
                                                                shown.limits["CUDA_DEVICE_SM_LIMIT"]))
            by_gpu.setdefault(uuid, {})[(self.namespace, name)] = 1
        self.assertEqual(30, len({slice_id for _, shown in given.values() for slice_id in shown.ids}))
        self.assertEqual([10, 10, 10], [len(pods) for pods in by_gpu.values()])
        self.node.wait_report("podresources names the same GPUs", lambda _: self.node.pods_by_gpu() == by_gpu)

    def test_three_slices_are_of_one_gpu(self):
        """Though the first GPU has two slices left."""
        self.submit_slices("eight", count=8).wait_phase("Running")
        job = self.submit_slices("three", count=3)
        job.wait_phase("Running")
        ((_, shown),) = self.shown(job).values()
        (uuid, memory, cores, ids), = shown.devices
        self.assertEqual(([uuid], 3 * LEAST_MEMORY, 3 * CORES, 3), (shown.visible, memory, cores, len(ids)))

    def test_as_few_slices_as_have_the_memory_and_the_cores(self):
        for name, wanted, slices in (("memory", {"memory": "4Gi"}, 2), ("cores", {"cores": 31}, 4),
                                     ("both", {"memory": "4Gi", "cores": 30}, 3)):
            with self.subTest(name):
                job = self.submit_slices(name, **wanted)
                job.wait_phase("Running")
                self.assertEqual(slices, job.lease()["slices"])
                ((_, shown),) = self.shown(job).values()
                self.assertEqual(slices, len(shown.ids))

    def test_a_gang_of_four_slice_workers(self):
        job = self.submit_slices("gang", workers=4, count=2)
        job.wait_phase("Running")
        given = self.shown(job)
        self.assertEqual(4, len(given))
        self.assertEqual(8, len({slice_id for _, shown in given.values() for slice_id in shown.ids}))
        self.open_gate()
        status = job.wait_condition("Complete")
        self.assertEqual((1, 4), (status["attempts"], status["workers"]["succeeded"]))

    def test_all_workers_fit_or_none_starts(self):
        self.submit_slices("holds", count=8).wait_phase("Running")
        gang = self.submit_slices("gang", workers=3, count=10)
        gang.wait_reason("WaitingForNodes")
        self.assertEqual([], gang.pods())
        self.api.delete("gpujobs", "holds", self.namespace)
        gang.wait_phase("Running")

    def test_strangers_stay_away(self):
        def taints():
            return {t["key"]: t.get("value") for t in self.api.get("nodes", NODE)["spec"].get("taints", [])}
        wait_for("the taint of the pool", lambda: taints().get("gpupool.dev/pool") == "shared",
                 detail=lambda: str(taints()))

    def test_an_unhealthy_gpu_leaves_the_pool_and_comes_back(self):
        def counts():
            return self.pool_status().get("slices", {})
        wait_for("the pool to show 30 slices", lambda: counts() == {"total": 30, "free": 30},
                 detail=lambda: str(counts()))
        self.addCleanup(self.node.wait_allocatable, 30)
        self.addCleanup(self.node.reload_driver)
        begin = time.monotonic()
        self.node.throw_xid(0, 79)
        wait_for("the pool to show 20 free slices", lambda: counts().get("free") == 20, detail=lambda: str(counts()))
        print(f"\n    the pool shows it after {time.monotonic() - begin:.2f} s", flush=True)
        self.submit_slices("elsewhere", count=10).wait_phase("Running")
        self.node.reload_driver()
        wait_for("the pool to show its slices again", lambda: counts() == {"total": 30, "free": 20},
                 detail=lambda: str(counts()))
