"""Every file in examples/ does what its first line says."""

import os
import re

from support.api import ApiError
from support.case import OperatorCase
from support.cluster import kubectl
from support.jobs import JobHandle
from support.operator_process import ROOT
from support.waiting import wait_for

RANK_LOSS = re.compile(r"rank (\d) epoch (\d+) loss ([0-9.]+)")
DIGEST = re.compile(r"rank (\d) final weights SHA256=([0-9a-f]{64})")


class ExampleTest(OperatorCase):
    def apply(self, name):
        kubectl(self.lab.kubeconfig, "apply", "-f", os.path.join(ROOT, "examples", name + ".yaml"))
        return JobHandle(self.api, name, "default")

    def follow_logs(self, job, logs):
        """Reads the logs of all starts while the job runs, since they go with the pods. True when the job has ended."""
        for pod in job.pods():
            name = pod["metadata"]["name"]
            for previous in (False, True):
                try:
                    text = self.api.log(name, "worker", "default", previous)
                except ApiError as error:
                    if error.code not in (400, 404, 500):  # not started yet, or just gone
                        raise
                    continue
                # Each start has a log of its own; the one that holds a finished worker says so.
                key = (name, "gpupool-launch: the command has ended" in text)
                if len(text) > len(logs.get(key, "")):
                    logs[key] = text
        return job.phase() in ("Succeeded", "Failed")

    def test_single_gpu(self):
        job = self.apply("single-gpu")
        logs = {}
        wait_for("single-gpu to end", lambda: self.follow_logs(job, logs), 60, job.show)
        status = job.wait_condition("Complete")
        self.assertEqual(("Succeeded", "Completed", 1), (status["phase"], status["reason"], status["attempts"]))
        self.assertEqual({"total": 1, "running": 0, "succeeded": 1}, {"running": 0, **status["workers"]})
        self.assertIn("single-gpu: rank 0 of 1", str(logs))

    def test_ddp_pytorch(self):
        job = self.apply("ddp-pytorch")
        logs = {}
        wait_for("ddp-pytorch to end", lambda: self.follow_logs(job, logs), 180, job.show)
        status = job.wait_condition("Complete")
        self.assertEqual(("Succeeded", 1, 3), (status["phase"], status["attempts"], status["workers"]["succeeded"]))
        text = "\n".join(logs.values())
        digests = dict(DIGEST.findall(text))
        self.assertEqual({"0", "1", "2"}, set(digests), text)
        self.assertEqual(1, len(set(digests.values())), digests)
        for rank in "012":
            losses = [float(loss) for r, _, loss in RANK_LOSS.findall(text) if r == rank]
            self.assertEqual(10, len(losses), text)
            self.assertLess(losses[-1], losses[0] / 2, losses)

    def test_explicit_nodes(self):
        job = self.apply("explicit-nodes")
        logs, nodes = {}, set()

        def ended():
            nodes.update(p["spec"].get("nodeName") for p in job.pods())
            return self.follow_logs(job, logs)
        wait_for("explicit-nodes to end", ended, 60, job.show)
        self.assertEqual("Succeeded", job.wait_condition("Complete")["phase"])
        self.assertEqual({"na", "nc"}, nodes - {None})
        text = "\n".join(logs.values())
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
        job.wait_phase("Running")
        status = job.wait_condition("Failed", limit=40)
        self.assertEqual("DeadlineExceeded", status["reason"])
        self.assertIn("5 s", status["message"])

    def test_too_large(self):
        job = self.apply("too-large")
        job.wait_reason("TooLarge")
        other = self.apply("single-gpu")
        other.wait_condition("Complete")
        self.assertEqual(("Queued", "TooLarge", None), (job.phase(), job.reason(), job.lease()))
