# SPDX-License-Identifier: Apache-2.0
"""Sweeps: each trial runs once, and its result is recorded."""

import json
import re
from typing import Any

from tests.integration.operator.cli_case import CliCase
from tests.kit.api import ApiError
from tests.kit.manifests import job_manifest, shell, sweep_manifest
from tests.kit.played.case import FakeClusterCase
from tests.kit.played.launchers import PlayedLaunchers
from tests.kit.sweeps import SweepHandle
from tests.kit.waiting import wait_for

LOSS = {"metric": "val/loss", "goal": "Minimize"}


def loss(value: str) -> list[str]:
    """What the launcher reports when the program has printed the loss once."""
    finite = "-" if value in ("NaN", "Infinity") else value
    return [f"val/loss {value} 1 {finite} 1 {finite} 1 1 {1 if finite == '-' else 0}"]


class SweepCase(FakeClusterCase):
    def sweep(self, name: str, trials: int = 0, **spec: Any) -> SweepHandle:
        """A grid of one parameter with so many values, unless spec says otherwise."""
        parameters = spec.pop("parameters", [{"name": "lr", "integers": {"min": 1, "max": trials}}])
        self.api.create("gpusweeps", sweep_manifest(name, self.namespace, self.pool, parameters, **spec))
        return SweepHandle(self.api, name, self.namespace)

    def running_trials(self, sweep: SweepHandle) -> dict[int, Any]:
        """{index: its running pod}."""
        found = {}
        for pod in self.api.list("pods", self.namespace):
            job = pod["metadata"]["labels"].get("gpupool.dev/job-name", "")
            if job.rsplit("-", 1)[0] == sweep.name and pod["status"].get("phase") == "Running":
                found[int(job.rsplit("-", 1)[1])] = pod
        return found

    def end_trial(self, sweep: SweepHandle, index: int, value: str | None = None, code: int = 0) -> None:
        pod = self.worker(sweep.trial(index))
        self.kubelet.finish(pod, code, metrics=loss(value) if value else ())


class SweepLifeTest(SweepCase):
    def test_each_trial_runs_once_although_the_operator_is_killed(self):
        sweep = self.sweep("tune", 9, parallel=3, objective=LOSS, keepJobs="Best")
        ended: set[int] = set()
        # Trial 5 is the planted best, trial 4 crashes.
        while len(ended) < 9:
            ready = wait_for("a trial to run", lambda: {i: pod for i, pod in self.running_trials(sweep).items()
                                                        if i not in ended}, detail=sweep.show)
            self.assertLessEqual(len(ready), 3)
            index = min(ready)
            if index % 3 == 1:
                self.operator.kill()  # its result is there when nobody looks
            self.kubelet.finish(ready[index], 0, metrics=loss(f"{abs(index - 5) + 0.25}"))
            ended.add(index)
            if not self.operator.running():
                self.operator.start()
            if index % 3 == 2:
                self.restart_operator()
        status = sweep.wait_phase("Succeeded")
        self.assertEqual([f"{i} S {abs(i - 5) + 0.25}" for i in range(9)], status["results"])
        self.assertEqual({"total": 9, "created": 9, "active": 0, "succeeded": 9, "failed": 0, "stopped": 0}, status["counts"])
        self.assertEqual({"trial": 5, "job": "tune-5", "value": "0.25", "parameters": {"lr": "6"}}, status["best"])
        begun = [re.match(r"tune-(\d+)-1-", name) for name in self.kubelet.started]
        self.assertEqual(sorted(map(str, range(9))), sorted(found.group(1) for found in begun if found), "each once")
        sweep.wait_jobs("tune-5")
        wait_for("the event of its end", lambda: "Completed" in {event["reason"] for event in sweep.events()})

    def test_what_a_trial_gets(self):
        container = shell("train --lr=$(lr)", args=["$(data)", "$(trial)"])
        job = {"pool": self.pool, "gpus": 1, "priority": 5, "template": {"spec": {"containers": [container]}}}
        sweep = self.sweep("given", job=job, search={"list": {}}, parameters=[
            {"name": "lr", "values": ["0.1", "0.2"]}, {"name": "data", "values": ["a b", "c; $(HOME)"]}])
        second = wait_for("the second trial", lambda: self.api.find("gpujobs", "given-1", self.namespace))
        self.assertEqual({"gpupool.dev/sweep": "given", "gpupool.dev/trial": "1"}, second["metadata"]["labels"])
        self.assertEqual(5, second["spec"]["priority"])
        made = second["spec"]["template"]["spec"]["containers"][0]
        self.assertEqual(["sh", "-c", "train --lr=0.2"], made["command"])
        self.assertEqual(["c; $$(HOME)", "1"], made["args"])
        self.assertEqual({"GPUPOOL_TRIAL": "1", "GPUPOOL_PARAM_LR": "0.2", "GPUPOOL_PARAM_DATA": "c; $$(HOME)"},
                         {one["name"]: one["value"] for one in made["env"]})
        for index in (0, 1):
            self.end_trial(sweep, index)
        self.assertEqual(["0 S", "1 S"], sweep.wait_phase("Succeeded")["results"])

    def test_ends_of_trials(self):
        sweep = self.sweep("ends", 4, parallel=3, objective=LOSS, keepJobs="Failed",  # as many as there are nodes
                           job={"pool": self.pool, "backoffLimit": 0, "template": {"spec": {"containers": [shell("x")]}}})
        self.end_trial(sweep, 0, "0.5")
        self.end_trial(sweep, 1, code=3)
        self.end_trial(sweep, 2)
        self.end_trial(sweep, 3, "NaN")
        status = sweep.wait_phase("Succeeded")
        self.assertEqual(["0 S 0.5", "1 F", "2 N", "3 N"], status["results"])
        told = {failure["trial"]: (failure["reason"], failure["message"]) for failure in status["failures"]}
        self.assertEqual("BackoffLimitExceeded", told[1][0])
        self.assertEqual(("MetricMissing", "metric val/loss never came"), told[2])
        self.assertEqual(("MetricMissing", "metric val/loss was not a finite number"), told[3])
        sweep.wait_jobs("ends-1", "ends-2", "ends-3")
        wait_for("events of the failures", lambda: len([e for e in sweep.events() if e["reason"] == "TrialFailed"]) == 3)

    def test_target_and_too_many_failures_end_it(self):
        target = self.sweep("target", 5, parallel=2, objective={**LOSS, "target": "0.1"})
        self.end_trial(target, 1, "0.05")
        status = target.wait_phase("Succeeded")
        self.assertEqual("TargetReached", status["reason"])
        self.assertIn("1 S 0.05", status["results"])
        target.wait_jobs("target-1")
        fails = self.sweep("fails", 5, parallel=2, maxFailed=0,
                           job={"pool": self.pool, "backoffLimit": 0, "template": {"spec": {"containers": [shell("x")]}}})
        self.end_trial(fails, 0, code=1)
        status = fails.wait_phase("Failed")
        self.assertEqual("MaxFailedExceeded", status["reason"])
        self.assertEqual((1, 1), (status["counts"]["failed"], status["counts"]["stopped"]))
        fails.wait_jobs("fails-0")

    def test_suspended_and_resumed(self):
        sweep = self.sweep("asleep", 3, parallel=2)
        self.worker(sweep.trial(0))
        self.worker(sweep.trial(1))
        sweep.patch(suspend=True)
        sweep.wait_phase("Suspended")
        for index in (0, 1):
            sweep.trial(index).wait_phase("Suspended")
        sweep.patch(suspend=False, parallel=3)
        sweep.wait_phase("Running")
        for index in (0, 1, 2):
            self.end_trial(sweep, index)
        self.assertEqual(["0 S", "1 S", "2 S"], sweep.wait_phase("Succeeded")["results"])

    def test_deleted_with_its_jobs(self):
        sweep = self.sweep("going", 3, parallel=2)
        self.worker(sweep.trial(0))
        self.api.delete("gpusweeps", "going", self.namespace)
        wait_for("its jobs to be gone", lambda: not sweep.jobs(), detail=sweep.show)
        again = self.sweep("going", 1)
        self.end_trial(again, 0)
        again.wait_phase("Succeeded")


class StoppedTrialsTest(SweepCase):
    def test_losers_are_stopped_although_the_operator_is_killed(self):
        def lost(index: int) -> str:
            return f"{abs(index - 5) + 0.25}"

        with PlayedLaunchers() as launchers:
            self.kubelet.address = launchers.address
            sweep = self.sweep("race", 9, parallel=3, objective=LOSS, stopping={"asha": {"max": 9}})
            told: set[int] = set()

            def ended() -> dict[int, str]:
                for index, pod in self.running_trials(sweep).items():
                    if index not in told:
                        launchers.tell(pod["metadata"]["labels"]["gpupool.dev/job-uid"], "val/loss", lost(index))
                        told.add(index)
                return {int(text.split()[0]): text for text in sweep.status().get("results", [])}

            wait_for("two trials to be stopped", lambda: set(ended()) >= {0, 1}, detail=sweep.show)
            self.operator.kill()
            self.operator.start()
            # Of 7 trials at the first rung, 2 go on; 4 and 6 are equally good.
            wait_for("three that go on", lambda: set(ended()) == {0, 1, 2, 3} and told == set(range(7)), detail=sweep.show)
            launchers.wait_told(*(sweep.trial(index).read()["metadata"]["uid"] for index in (4, 5, 6)))
            for index in (4, 5, 6):
                self.end_trial(sweep, index, lost(index))
            wait_for("the end", lambda: len(ended()) == 9, detail=sweep.show)
            status = sweep.wait_phase("Succeeded")
        self.assertEqual([f"{i} {'S' if i in (4, 5, 6) else 'X'} {lost(i)} {lost(i)}" for i in range(9)], status["results"])
        self.assertEqual((3, 6, 0), tuple(status["counts"][key] for key in ("succeeded", "stopped", "failed")))
        self.assertEqual(("Completed", 5), (status["reason"], status["best"]["trial"]))
        begun = [re.match(r"race-(\d+)-1-", name) for name in self.kubelet.started]
        self.assertEqual(sorted(map(str, range(9))), sorted(found.group(1) for found in begun if found), "each once")
        sweep.wait_jobs("race-4", "race-5", "race-6")

    def test_what_does_not_stop_trials_asks_nobody(self):
        with PlayedLaunchers() as launchers:
            self.kubelet.address = launchers.address
            sweep = self.sweep("calm", 1, objective=LOSS)
            self.end_trial(sweep, 0, "0.5")
            sweep.wait_phase("Succeeded")
            self.assertEqual([], launchers.asked)


class ShownSweepTest(SweepCase, CliCase):
    def test_what_a_renter_is_shown(self):
        sweep = self.sweep("shown", 4, parallel=2, objective=LOSS)
        self.end_trial(sweep, 1, "0.5")
        self.end_trial(sweep, 0, "2.5")
        sweep.wait("2 results", lambda s: len(s.get("results", [])) == 2)
        self.assertRegex(self.tell("sweep", "show", "shown"), r"(?s)4 trials: 2 succeeded, .*val/loss by trial.*Best trials:")
        self.assertRegex(self.tell("sweep", "show", "shown", "3"), r"(?s)Parameters: +lr=4\n")
        self.assertEqual("0.5", json.loads(self.tell("sweep", "best", "shown", "-o", "json"))["value"])
        items = json.loads(self.tell("sweep", "trials", "shown", "-o", "json"))["items"]
        self.assertEqual([("Succeeded", "2.5"), ("Succeeded", "0.5")], [(i["state"], i["value"]) for i in items[:2]])
        self.assertEqual({"last": "2.5", "least": "2.5", "greatest": "2.5"}, items[0]["metrics"]["val/loss"])
        self.assertTrue(self.tell("sweep", "trials", "shown", "-o", "csv").startswith("TRIAL,STATE,val/loss,lr,REASON\n"))
        self.assertEqual(1, self.ask("sweep", "show", "shown", "4")[0])


class BadSweepTest(SweepCase):
    def test_a_sweep_that_cannot_run(self):
        spaces = [{"name": "a", "integers": {"min": 1, "max": 100000}}, {"name": "b", "integers": {"min": 1, "max": 10000}}]
        huge = self.sweep("huge", parameters=spaces)
        status = huge.wait_phase("Invalid")
        self.assertEqual("InvalidSpec", status["reason"])
        self.assertIn("have 1000000000 combinations; at most 1000 trials are possible", status["message"])
        job = {"pool": self.pool, "template": {"spec": {"containers": [shell("train --lr=$(rate)")]}}}
        unknown = self.sweep("unknown", 2, job=job)
        self.assertIn("$(rate) is neither a parameter", unknown.wait_phase("Invalid")["message"])
        self.assertEqual([], huge.jobs() + unknown.jobs())
        unknown.patch(parameters=[{"name": "rate", "values": ["0.1"]}])
        self.end_trial(unknown, 0)
        self.assertEqual("1/1", unknown.wait_phase("Succeeded")["progress"])

    def test_a_job_that_the_server_would_refuse(self):
        template = {"spec": {"containers": [shell("x")]}}
        sweep = self.sweep("refused", 1, job={"pool": self.pool, "priority": 2000000, "template": template})
        status = sweep.wait_phase("Invalid")
        self.assertEqual("TemplateRefused", status["reason"])
        self.assertIn("spec.priority", status["message"])
        sweep.patch(job={"priority": 1})
        self.end_trial(sweep, 0)
        sweep.wait_phase("Succeeded")

    def test_what_the_server_refuses(self):
        for name, spec, words in (("a" * 41, {}, "metadata.name"), ("bad", {"parallel": 0}, "spec.parallel")):
            with self.assertRaises(ApiError) as caught:
                self.sweep(name, 2, **spec)
            self.assertEqual(422, caught.exception.code)
            self.assertIn(words, caught.exception.message)

    def test_a_name_that_is_taken(self):
        self.api.create("gpujobs", job_manifest("taken-1", self.namespace, self.pool, suspend=True))
        sweep = self.sweep("taken", 2)
        self.end_trial(sweep, 0)
        status = sweep.wait_phase("Succeeded")
        self.assertEqual(["0 S", "1 F"], status["results"])
        self.assertEqual([{"trial": 1, "reason": "NameConflict", "message": "there is another GpuJob taken-1"}],
                         status["failures"])

    def test_a_trial_that_somebody_deletes_is_not_run_again(self):
        sweep = self.sweep("poor", 2, parallel=1)
        self.worker(sweep.trial(0))
        sweep.wait("a created trial", lambda s: s.get("counts", {}).get("created") == 1)
        sweep.trial(0).delete()
        sweep.wait("its end", lambda s: s.get("results") == ["0 D"])
        self.end_trial(sweep, 1)
        self.assertEqual(["0 D", "1 S"], sweep.wait_phase("Succeeded")["results"])
        self.assertEqual(1, len([name for name in self.kubelet.started if name.startswith("poor-0-")]))

    def test_edits_of_what_must_not_change(self):
        sweep = self.sweep("edited", 3, parallel=1)
        self.worker(sweep.trial(0))
        try:
            sweep.patch(parameters=[{"name": "lr", "integers": {"min": 1, "max": 9}}])
        except ApiError as error:  # the definition's rules; Kubernetes before 1.25 has none
            self.assertEqual(422, error.code)
            self.assertIn("spec.parameters cannot be changed", error.message)
        else:
            sweep.wait_reason("SpecChanged")
            self.end_trial(sweep, 0)
            sweep.wait("the result", lambda s: s.get("results") == ["0 S"])
            self.assertEqual(["edited-0"], sweep.jobs())
            sweep.patch(parameters=[{"name": "lr", "integers": {"min": 1, "max": 3}}])
            sweep.wait_reason("TrialsRunning")
            self.worker(sweep.trial(1))

    def test_a_pool_that_is_not_there(self):
        sweep = self.sweep("astray", 2, job={"pool": "nowhere", "template": {"spec": {"containers": [shell("x")]}}})
        status = sweep.wait_reason("PoolNotFound")
        self.assertIn("trial 0 cannot run: there is no GpuPool nowhere", status["message"])
        self.assertEqual("True", sweep.condition("Stalled"))
