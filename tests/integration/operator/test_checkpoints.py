# SPDX-License-Identifier: Apache-2.0
"""What workers with spec.checkpoint get, and what becomes of what they report."""

import signal

from tests.integration.operator.test_drains import DrainCase
from tests.kit.played.kubelet import step_of_attempt
from tests.kit.played.workers import attempt_of, is_deleted, rank_of
from tests.kit.waiting import wait_for

CLAIM = "team-checkpoints"
VARIABLES = {"GPUPOOL_CHECKPOINT_DIR", "GPUPOOL_RESUME"}
FLAGS = ("--checkpoint-dir=", "--notice=", "--grace-seconds=", "--resume=")


def has_ended(pod):
    return all("terminated" in status["state"] for status in pod["status"].get("containerStatuses", []))


class WorkerTest(DrainCase):
    pool_spec = {"maxTerminationGracePeriodSeconds": 7}

    def shown(self, job):
        """(variables, flags, mounts, volumes, grace period) of checkpoints in the pod of rank 0."""
        spec = self.worker(job, 0 if len(job.nodes()) > 1 else None)["spec"]
        worker = spec["containers"][0]
        return ({v["name"]: v.get("value") for v in worker["env"] if v["name"] in VARIABLES},
                [word for word in worker["command"] if word.startswith(FLAGS)],
                [m for m in worker["volumeMounts"] if m["name"].endswith("checkpoint")],
                [v["persistentVolumeClaim"] for v in spec["volumes"] if "persistentVolumeClaim" in v],
                spec["terminationGracePeriodSeconds"])

    def test_claim_notice_and_grace(self):
        self.api.create("persistentvolumeclaims", {"metadata": {"name": CLAIM, "namespace": self.namespace}, "spec": {
            "accessModes": ["ReadWriteMany"], "storageClassName": "", "resources": {"requests": {"storage": "1Gi"}}}})
        for name, gpus in (("alone", 1), ("gang", 2)):
            with self.subTest(name):
                job = self.start(gpus, name, checkpoint={"claimName": CLAIM, "path": "/saved", "notice": "File",
                                                         "graceSeconds": 3600})
                folder = f"{name}-{job.read()['metadata']['uid'][:8]}"
                for attempt in (0, 1):
                    variables, flags, mounts, claims, grace = self.shown(job)
                    self.assertEqual({"GPUPOOL_CHECKPOINT_DIR": "/saved", "GPUPOOL_RESUME": str(attempt)}, variables)
                    self.assertEqual(["--checkpoint-dir=/saved", "--notice=file", "--grace-seconds=7",
                                      f"--resume={attempt}"], flags)
                    self.assertEqual([("/saved", folder)], [(m["mountPath"], m["subPath"]) for m in mounts])
                    self.assertEqual(([{"claimName": CLAIM}], 7), (claims, grace))
                    if not attempt:
                        job.ask_restart("once")
                        self.wait_attempt(job, 1)
                self.complete(job, 2, (None,) if gpus == 1 else (0, 1))
                job.delete()

    def test_without_a_claim(self):
        variables, flags, mounts, claims, grace = self.shown(self.start(1))
        self.assertEqual({"GPUPOOL_CHECKPOINT_DIR": "/checkpoints", "GPUPOOL_RESUME": "0"}, variables)
        self.assertEqual(["--checkpoint-dir=/checkpoints", "--notice=signal", "--grace-seconds=1", "--resume=0"], flags)
        self.assertEqual(([], [], 1), (mounts, claims, grace))

    def test_who_does_not_ask_for_it_gets_nothing(self):
        self.assertEqual(({}, [], [], [], 1), self.shown(self.start(1, checkpoint=None)))


class ReportTest(DrainCase):
    def clean(self):
        self.kubelet.report_of = step_of_attempt
        super().clean()

    def stop(self, job, rank=None):
        """Its machine is shut down, with the time that it needs to save its work."""
        self.kubelet.finish(self.worker(job, rank), stop_signal=signal.SIGTERM)

    def checkpoint(self, job):
        status = job.status().get("checkpoint", {})
        return status.get("step"), status.get("path")

    def test_a_stop_from_outside_is_no_success(self):
        for name, rank in (("alone", None), ("gang", 1)):
            with self.subTest(name):
                job = self.start(1 if rank is None else 2, name)
                self.stop(job, rank)
                self.wait_attempt(job, 1)
                self.assertEqual((100, "step-100"), self.checkpoint(job))
                self.wait_told(job, "Checkpointed", "attempt 0 saved its work at step 100, in step-100")
                self.wait_told(job, "StartingWorkers", "attempt 0 yielded; attempt 1 starts on ")
                self.assertEqual([("Yielded", 100)], self.complete(job, 2, (None,) if rank is None else (0, 1)))
                self.assertEqual((200, "step-200"), self.checkpoint(job))

    def test_of_a_gang_the_lowest_step_counts(self):
        self.kubelet.report_of = lambda pod: f'{{"step":{70 - rank_of(pod)}}}'
        job = self.start(2)
        job.patch(suspend=True)
        job.wait_phase("Suspended")
        self.assertEqual((69, None), self.checkpoint(job))
        self.assertEqual([("Suspended", 69)], [(end["cause"], end.get("fromStep")) for end in job.status()["history"]])

    def test_one_that_cannot_be_read_is_told(self):
        for number, (text, why) in enumerate((("step 7", "is not an object with step and path"), ("{}", "step is missing"),
                                              ('{"step":-1}', "-1"), ('{"step":7,"path":"a\\nb"}', "control character"))):
            with self.subTest(text):
                self.kubelet.report_of = lambda pod, said=text: said
                job = self.start(1, f"job-{number}")
                self.stop(job)
                self.wait_attempt(job, 1)
                self.wait_told(job, "ReportIgnored", why)
                self.assertNotIn("checkpoint", job.status())
                self.kubelet.report_of = step_of_attempt
                self.assertEqual([("Yielded", None)], self.complete(job, 2, (None,)))
                self.assertEqual((200, "step-200"), self.checkpoint(job))

    def test_steps_do_not_go_backwards(self):
        self.kubelet.report_of = lambda pod: f'{{"step":{90 - attempt_of(pod)}}}'
        job = self.start(1)
        for attempt in (1, 2):
            self.stop(job)
            self.wait_attempt(job, attempt)
        self.assertEqual((90, None), self.checkpoint(job))
        self.wait_told(job, "ReportIgnored", "step 89 comes before step 90, which was reported before")
        self.assertEqual([("Yielded", 90)] * 2, self.complete(job, 3, (None,)))

    def test_the_operator_dies_after_the_workers_have_ended(self):
        """Their pods keep what they have reported until it is written down."""
        job = self.start(2)
        self.nodes.drain(job.nodes()[0])
        job.wait("the end of the attempt", lambda s: s.get("phase") == "Restarting" or s.get("attempts") == 2)
        self.operator.kill()
        wait_for("the workers to end", lambda: all(has_ended(pod) for pod in job.pods() if is_deleted(pod)))
        self.operator.start()
        self.wait_attempt(job, 1)
        self.assertEqual([("Draining", 100)], self.complete(job, 2))
