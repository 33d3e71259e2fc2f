# SPDX-License-Identifier: Apache-2.0
"""Tenants of a pool with spec.queue: a training makes room for a job that its tenant is guaranteed."""

import os
import re
import time

from tests.e2e.checkpoint_case import CheckpointCase
from tests.kit.follower import GONE, Follower
from tests.kit.manifests import shell
from tests.kit.pod_watch import PodWatch
from tests.kit.undisturbed import Undisturbed
from tests.kit.waiting import wait_for

LONGEST_START = 60  # seconds; how long it takes is printed, and is in docs/queue.md
BEGUN = re.compile(r"rank 0 begins at step (\d+)")


class Moments:
    """A context manager that notes when one of two jobs was told to make room for the other, and what came after. The
    moments are of time.time(), as those of files."""

    def __init__(self, kubeconfig, borrower, claimant):
        self._borrower, self._claimant = borrower, claimant
        self.told = self.made = self.runs = 0.0
        self._ended = {}
        self._followers = [Follower(kubeconfig, kind, note)
                           for kind, note in (("gpujobs", self._note_job), ("pods", self._note_pod))]

    def __enter__(self):
        for follower in self._followers:
            follower.list().start()
        return self

    def __exit__(self, *_):
        for follower in self._followers:
            follower.close()
            follower.join(10)

    def _note_job(self, _, job):
        namespace, status = job["metadata"]["namespace"], job.get("status", {})
        if namespace == self._borrower.namespace and status.get("yields"):
            self.told = self.told or time.time()
        if namespace == self._claimant.namespace and status.get("phase") == "Running":
            self.runs = self.runs or time.time()

    def _note_pod(self, what, pod):
        if pod["metadata"]["namespace"] == self._claimant.namespace:
            self.made = self.made or time.time()
        if pod["metadata"]["namespace"] == self._borrower.namespace:
            runs = any("running" in container["state"] for container in pod["status"].get("containerStatuses", []))
            if what == GONE or (pod["metadata"].get("deletionGracePeriodSeconds") == 0 and not runs):
                self._ended.setdefault(pod["metadata"]["name"], time.time())

    def ended(self, workers):
        """When the last of the first so many workers had ended, as their kubelets said."""
        return sorted(self._ended.values())[workers - 1]


class GuaranteeTest(CheckpointCase):
    def setUp(self):
        super().setUp()
        self.owner = self.lab.make_namespace(self.namespace + "-owner")
        self.addCleanup(self.api.delete, "namespaces", self.owner)
        self.addCleanup(self.api.patch, "gpupools", self.pool, {"spec": {"queue": None}})
        self.guard(3600)

    def guard(self, seconds):
        """So long a job of this pool runs before it makes room."""
        tenants = [{"name": "owner", "namespaces": [self.owner], "guaranteed": 2}]
        pool = self.api.patch("gpupools", self.pool, {"spec": {"queue": {
            "tenants": tenants, "yield": {"minRunSeconds": seconds}}}})
        wait_for("the operator to see the queue", lambda: self.api.get("gpupools", self.pool)["status"].get(
            "observedGeneration") == pool["metadata"]["generation"])

    def test_a_training_makes_room_and_ends_with_the_same_result(self):
        self.make_claim()
        self.make_program()
        with PodWatch(self.lab.kubeconfig, self.namespace) as pods, \
                Undisturbed(os.path.join(self.volume, "undisturbed"), 2) as undisturbed:
            training = self.start_example("training")
            training.wait_phase("Running", limit=120)
            firm = self.submit("firm", namespace=self.owner, container=shell("sleep 3"), gpus=2, rendezvous="None")
            self.wait_step_above(training, 0)
            self.assertEqual("Queued", firm.phase())
            with Moments(self.lab.kubeconfig, training, firm) as moments:
                self.guard(1)
                firm.wait_phase("Running")
                wait_for("the moments to be known", lambda: moments.told and moments.runs)
                self.assertEqual("Queued", training.phase())
                saved = self.time_of_last_step(training)
            firm.wait_condition("Complete")
            status = training.wait_condition("Complete")
            self.assertEqual({self.digest(pods)}, undisturbed.digests())
        ended = moments.ended(2)
        print(f"{saved - moments.told:.1f} s to save, {ended - saved:.1f} s until kubelets say that the workers ended, "
              f"{moments.made - ended:.1f} s until the other job has workers, "
              f"{moments.runs - moments.made:.1f} s until they run ", end="", flush=True)
        self.assertLess(moments.runs - ended, LONGEST_START)
        self.assertEqual((2, 1, 0), (status["attempts"], status["yields"], status.get("failures", 0)))
        self.assertEqual(400, self.step_told(status))
        (end,) = status["history"]
        self.assertEqual((0, "Yielded"), (end["attempt"], end["cause"]))
        step = int(BEGUN.search(status["message"])[1])
        self.assertGreater(step, 0)
        self.assertEqual(step, end.get("fromStep", step))  # kubelets of 1.20 may forget how a worker ended

    def time_of_last_step(self, job):
        return os.stat(os.path.join(self.folder_of(job), f"step-{self.step_on_disk(job)}")).st_mtime
