# SPDX-License-Identifier: Apache-2.0
"""Slices whose memory is limited: one simulated GPU, the true limiter, and programs that call the driver's library."""

import errno
import os
import re

from tests.e2e.gate_case import MOUNT, VOLUME, GateCase
from tests.kit.cuda_program import AROUND, GREEDY, STEADY, cuda_worker
from tests.kit.waiting import wait_for

NODE, POOL = "ne", "limited"
SLICE_MIB = 2303  # a tenth of an L4
REPORTED = 60  # seconds; the plugin compares every few seconds
LIMITER = "var/lib/gpupool-limiter"


class LimiterTest(GateCase):
    def setUp(self):
        super().setUp()
        self.watch_node(NODE, 10)

    def submit_program(self, name, slices, program, *arguments, **spec):
        container, pod = cuda_worker(program, *arguments, volumeMounts=[MOUNT])
        pod["volumes"].append(VOLUME)
        return self.submit(name, container=container, pod=pod, pool=POOL, gpus=1, slice={"count": slices}, **spec)

    def said(self, job, pattern):
        """What its worker has printed that matches."""
        def find():
            for pod in job.pods():
                states = pod["status"].get("containerStatuses", [])
                if any("waiting" not in state["state"] for state in states):
                    found = re.search(pattern, self.api.log(pod["metadata"]["name"], "worker", self.namespace))
                    if found:
                        return found
            return None
        return wait_for(f"{job.name} to print {pattern}", find, detail=job.show)

    def steady_neighbour(self, mib):
        job = self.submit_program("neighbour", 3, STEADY, str(mib), self.gate)
        self.said(job, rf"steady: uses {mib} of {3 * SLICE_MIB} MiB")
        return job

    def end_neighbour(self, job):
        """It never noticed anything."""
        self.open_gate()
        rounds, refused = self.said(job, r"took 256 MiB (\d+) times, refused (\d+) times").groups()
        self.assertGreater(int(rounds), 0)
        self.assertEqual("0", refused)
        job.wait_condition("Complete")
        self.assertEqual(1, job.status()["attempts"])

    def test_a_greedy_program_is_refused_and_its_neighbour_is_not(self):
        neighbour = self.steady_neighbour(6000)
        greedy = self.submit_program("greedy", 2, GREEDY, "0")
        self.assertEqual(str(2 * SLICE_MIB), self.said(greedy, r"seems to have (\d+) MiB")[1])
        taken, code = map(int, self.said(greedy, r"got (\d+) MiB, then error (\d+)").groups())
        self.assertEqual(2, code)  # CUDA_ERROR_OUT_OF_MEMORY
        self.assertLessEqual(taken, 2 * SLICE_MIB)
        self.assertGreater(taken, 2 * SLICE_MIB - 600)  # its context needs some
        greedy.wait_condition("Complete")
        self.end_neighbour(neighbour)

    def test_a_program_that_goes_around_the_limiter_is_ended(self):
        neighbour = self.steady_neighbour(5000)
        around = self.submit_program("around", 2, AROUND, str(3 * SLICE_MIB), backoffLimit=0)
        self.said(around, "around: got")
        status = around.wait("its end", lambda s: s.get("phase") == "Failed" and s, REPORTED)
        self.assertIn("SliceExceeded", str(status))
        self.assertEqual(1, status["failures"])
        self.assertRegex(str(status), rf"used \d+ MiB of GPU-\S+ on node {NODE}; its slices have {2 * SLICE_MIB} MiB")
        self.end_neighbour(neighbour)

    def test_the_plugin_cannot_write_the_limiter(self):
        (pid,) = self.node.plugin_pids()
        folder = f"/proc/{pid}/root/{LIMITER}"
        self.assertTrue(os.listdir(folder))
        for path in (f"{folder}/new", *(os.path.join(top, name) for top, _, names in os.walk(folder) for name in names)):
            with self.assertRaises(OSError, msg=path) as caught:
                os.close(os.open(path, os.O_WRONLY | os.O_CREAT))
            self.assertEqual(errno.EROFS, caught.exception.errno, path)
        # Nor can any container of a job.
        job = self.submit_program("reader", 1, "import time; time.sleep(3600)")
        job.wait_phase("Running")
        worker = self.worker_pid(job)
        for name in ("/etc/ld.so.preload", "/usr/local/lib/gpupool/libgpupool-vgpu.so", "/etc/gpupool/limits"):
            with self.assertRaises(OSError, msg=name) as caught:
                os.close(os.open(f"/proc/{worker}/root{name}", os.O_WRONLY))
            self.assertEqual(errno.EROFS, caught.exception.errno, name)

    def worker_pid(self, job):
        """A process of its worker, as this machine counts."""
        (pod,) = job.pods()
        uid = pod["metadata"]["uid"]
        return wait_for("the worker's process", lambda: self.node.pid_of(uid, "python3"), detail=job.show)
