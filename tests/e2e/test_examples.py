# SPDX-License-Identifier: Apache-2.0
"""Every file in examples/ does what its first line says."""

import os
import re

from tests.kit.jobs import JobHandle
from tests.kit.kubectl import kubectl
from tests.kit.operator_case import OperatorCase
from tests.kit.paths import ROOT
from tests.kit.pod_watch import PodWatch
from tests.kit.sweeps import SweepHandle

RANK_LOSS = re.compile(r"rank (\d) epoch (\d+) loss ([0-9.]+)")
DIGEST = re.compile(r"rank (\d) final weights SHA256=([0-9a-f]{64})")


class ExampleTest(OperatorCase):
    def apply(self, name, *jobs):
        """The job of the file's name, or the named ones."""
        kubectl(self.lab.kubeconfig, "apply", "-f", os.path.join(ROOT, "examples", name + ".yaml"))
        return [JobHandle(self.api, job, "default") for job in jobs] if jobs else JobHandle(self.api, name, "default")

    def watch(self):
        return PodWatch(self.lab.kubeconfig, "default")

    def test_single_gpu(self):
        with self.watch() as pods:
            job = self.apply("single-gpu")
            status = job.wait_condition("Complete")
            self.assertEqual(("Succeeded", "Completed", 1), (status["phase"], status["reason"], status["attempts"]))
            self.assertEqual((1, 1), (status["workers"]["total"], status["workers"]["succeeded"]))
            (tail,) = pods.tails(1).values()
        self.assertRegex(tail, r"(?s)^single-gpu: rank 0 of 1 on .*done$")

    def test_ddp_pytorch(self):
        with self.watch() as pods:
            job = self.apply("ddp-pytorch")
            status = job.wait_condition("Complete", limit=240)
            text = "\n".join(pods.tails(3).values())
        self.assertEqual(("Succeeded", 1, 3), (status["phase"], status["attempts"], status["workers"]["succeeded"]))
        digests = dict(DIGEST.findall(text))
        self.assertEqual({"0", "1", "2"}, set(digests), text)
        self.assertEqual(1, len(set(digests.values())), digests)
        for rank in "012":
            losses = [float(loss) for r, _, loss in RANK_LOSS.findall(text) if r == rank]
            self.assertEqual(10, len(losses), text)
            self.assertLess(losses[-1], losses[0] / 2, losses)

    def test_explicit_nodes(self):
        with self.watch() as pods:
            job = self.apply("explicit-nodes")
            self.assertEqual("Succeeded", job.wait_condition("Complete")["phase"])
            text = "\n".join(pods.tails(2).values())
            self.assertEqual({"na", "nc"}, pods.nodes())
        for rank in (0, 1):
            self.assertIn(f"rank {rank} of 2 on ", text)

    def test_crash_then_succeed(self):
        job = self.apply("crash-then-succeed")
        status = job.wait_condition("Complete")
        self.assertEqual(("Succeeded", 2), (status["phase"], status["attempts"]))

    def test_crash_exhausts(self):
        job = self.apply("crash-exhausts")
        status = job.wait_condition("Failed")
        self.assertEqual(("Failed", "BackoffLimitExceeded", 2), (status["phase"], status["reason"], status["attempts"]))
        self.assertIn("rank 0 exited with code 3", status["message"])
        self.assertTrue(status["message"].rstrip().endswith("data set not found: /data/train.bin"), status["message"])

    def test_deadline(self):
        job = self.apply("deadline")
        status = job.wait_condition("Failed")  # on a busy machine before it runs: starting counts
        self.assertEqual("DeadlineExceeded", status["reason"])
        self.assertIn("5 s", status["message"])

    def test_too_large(self):
        job = self.apply("too-large")
        job.wait_reason("TooLarge")
        other = self.apply("single-gpu")
        other.wait_condition("Complete")
        self.assertEqual(("Queued", "TooLarge", None), (job.phase(), job.reason(), job.lease()))

    def test_slice_job(self):
        with self.watch() as pods:
            job = self.apply("slice-job")
            self.assertEqual("Succeeded", job.wait_condition("Complete")["phase"])
            (tail,) = pods.tails(1).values()
            self.assertEqual({"nd"}, pods.nodes())
        # Three slices of an L4 with 23034 MiB, for the cores.
        self.assertRegex(tail, r"^GPU GPU-[-0-9a-f]+\nmemory 6909m, cores 30 %$")

    def test_torchrun(self):
        with self.watch() as pods:
            job = self.apply("torchrun")
            self.assertEqual("Succeeded", job.wait_condition("Complete", limit=180)["phase"])
            (tail,) = pods.tails(1).values()
        self.assertEqual({("0", "0"), ("1", "1")}, set(re.findall(r"rank (\d) of 2, GPU (\d): sum 3$", tail, re.M)), tail)

    def test_independent_tasks(self):
        with self.watch() as pods:
            job = self.apply("independent-tasks")
            self.assertEqual("Succeeded", job.wait_condition("Complete")["phase"])
            shares = [list(map(int, re.findall(r"^task (\d+)$", tail, re.M))) for tail in pods.tails(4).values()]
        self.assertEqual([[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]], sorted(shares))

    def sweep(self, name, sweep):
        kubectl(self.lab.kubeconfig, "apply", "-f", os.path.join(ROOT, "examples", name + ".yaml"))
        return SweepHandle(self.api, sweep, "default")

    def test_sweep_optimum(self):
        sweep = self.sweep("sweep-optimum", "optimum")
        status = sweep.wait_phase("Succeeded")
        self.assertEqual({"trial": 9, "job": "optimum-9", "value": "0.25", "parameters": {"x1": "2", "x2": "1"}}, status["best"])
        values = {(x, y): (x - 2) ** 2 + (y - 1) ** 2 + 0.25 for x in range(4) for y in range(4)}
        self.assertEqual([f"{i} S {value:g}" for i, value in enumerate(values.values())], status["results"])
        sweep.wait_jobs("optimum-9")

    def test_sweep_stopping(self):
        sweep = self.sweep("sweep-stopping", "stopping")
        status = sweep.wait("its end", lambda s: s.get("completionTime") and s, limit=300)
        self.assertEqual(("Succeeded", 3, "0.111111", 0),
                         (status["phase"], status["best"]["trial"], status["best"]["value"], status["counts"]["failed"]))
        by_index = dict(text.split(" ", 1) for text in status["results"])
        self.assertRegex(by_index["3"], "^S 0.111111 1")
        self.assertRegex(by_index["8"], r"^X \S+ 26", "stopped at the first epoch, or a later one on a busy machine")
        self.assertGreaterEqual(status["counts"]["stopped"], 4)

    def test_sweep_data_sets(self):
        sweep = self.sweep("sweep-data-sets", "data-sets")
        status = sweep.wait("its end", lambda s: s.get("completionTime") and s, limit=600)
        self.assertEqual(("Succeeded", 50, 0), (status["phase"], status["counts"]["succeeded"], status["counts"]["failed"]))
        for index in (0, 49):
            numbers = {value["name"]: float(value["last"]) for value in sweep.trial(index).status()["metrics"]["values"]}
            self.assertEqual(100, numbers["rows"])
            self.assertTrue(index + 1 <= numbers["mean"] < index + 2, numbers)

    def test_mixed_slices(self):
        with self.watch() as pods:
            jobs = self.apply("mixed-slices", "one-slice", "three-slices", "ddp-slices")
            for job in jobs:
                self.assertEqual("Succeeded", job.wait_condition("Complete", limit=180)["phase"])
            tails = pods.tails(6)
        text = "\n".join(tails.values())
        for line in ("memory 2303m, cores 10 %", "memory 6909m, cores 30 %"):
            self.assertIn(line, text)
        self.assertEqual({"0", "1", "2", "3"}, set(re.findall(r"^rank (\d) of 4: loss .* within 4606m$", text, re.M)), text)
