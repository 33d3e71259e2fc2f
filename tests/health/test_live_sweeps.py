# SPDX-License-Identifier: Apache-2.0
"""Sweeps in a cluster look as the fixtures show."""

from typing import Any

from tests.health.live_case import LiveCase
from tests.integration.operator.test_sweeps import LOSS, SweepCase
from tests.kit.api import ApiError
from tests.kit.manifests import shell
from tests.kit.sweeps import SweepHandle


class LiveSweepTest(LiveCase, SweepCase):
    def keep_sweep(self, fixture: str, sweep: SweepHandle, reason: str) -> None:
        sweep.wait_reason(reason)
        self.keep(fixture, sweep.read())

    def brittle(self, name: str, trials: int, **spec: Any) -> SweepHandle:
        """A trial fails at its first crash."""
        job = {"pool": self.pool, "backoffLimit": 0, "template": {"spec": {"containers": [shell("train")]}}}
        return self.sweep(name, trials, job=job, **spec)

    def test_life(self):
        sweep = self.sweep("life", 2, parallel=1)
        sweep.wait("a trial", lambda s: s.get("counts", {}).get("created") == 1)
        self.keep_sweep("gpusweep-running", sweep, "TrialsRunning")
        sweep.patch(suspend=True)
        self.keep_sweep("gpusweep-suspended", sweep, "Suspended")
        sweep.trial(0).wait_phase("Suspended")  # else the worker that is found next may be one that is stopped
        sweep.patch(suspend=False)
        self.end_trial(sweep, 0)
        self.end_trial(sweep, 1)
        self.keep_sweep("gpusweep-succeeded", sweep, "Completed")
        target = self.sweep("target", 1, objective={**LOSS, "target": "1"})
        self.end_trial(target, 0, "0.5")
        self.keep_sweep("gpusweep-target-reached", target, "TargetReached")

    def test_failures(self):
        fails = self.brittle("fails", 2, parallel=1, maxFailed=0)
        self.end_trial(fails, 0, code=1)
        self.keep_sweep("gpusweep-failed-max-failed", fails, "MaxFailedExceeded")
        none = self.brittle("none", 1)
        self.end_trial(none, 0, code=1)
        self.keep_sweep("gpusweep-failed-no-trial", none, "NoTrialSucceeded")

    def test_a_person_must_act(self):
        self.keep_sweep("gpusweep-stalled-invalid-spec", self.sweep("huge", 1001), "InvalidSpec")
        astray = self.sweep("astray", 1, job={"pool": "nowhere", "template": {"spec": {"containers": [shell("x")]}}})
        self.keep_sweep("gpusweep-running-trial-invalid", astray, "PoolNotFound")
        edited = self.sweep("edited", 2, parallel=1)
        edited.wait("a trial", lambda s: s.get("counts", {}).get("created") == 1)
        try:
            edited.patch(keepJobs="None")
        except ApiError as error:  # newer API servers refuse it by the definition's CEL rules
            self.assertEqual(422, error.code)
        else:
            self.keep_sweep("gpusweep-running-spec-changed", edited, "SpecChanged")

    def test_while_no_operator_runs(self):
        self.operator.kill()
        self.keep("gpusweep-new", self.sweep("new", 1).read())
