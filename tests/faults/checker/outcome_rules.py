# SPDX-License-Identifier: Apache-2.0
"""Rules for what workers run and how jobs end."""

from typing import Iterator

from tests.faults.checker.rule import Change, Rule
from tests.faults.checker.state import State

OVER = {"Succeeded": "Complete", "Failed": "Failed"}  # phase: its condition


class RunsOnce(Rule):
    name = "the command of a rank runs once in an attempt"

    def __init__(self) -> None:
        super().__init__()
        self._ran = {}  # (job UID, attempt, rank): UID of the pod

    def look(self, change: Change, state: State) -> Iterator[str]:
        pod = change.after
        if change.kind != "pods" or not pod or not pod.began:
            return
        self.checked += 1
        first = self._ran.setdefault((pod.job, pod.attempt, pod.rank), pod.uid)
        if first != pod.uid:
            yield f"rank {pod.rank} of attempt {pod.attempt} runs again as {pod.key}"


class EndsAsItShould(Rule):
    """As its writer expects, with a condition that says so, and without a change afterwards."""

    name = "a job ends as its commands do, only crashes being charged"

    def __init__(self) -> None:
        super().__init__()
        self._ended = {}

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after
        if change.kind != "gpujobs" or not job:
            return
        if job.uid in self._ended and job.phase != self._ended[job.uid]:
            yield f"{job.key} was {self._ended[job.uid]} and is {job.phase}"
        if job.phase not in OVER or job.uid in self._ended:
            return
        self._ended[job.uid] = job.phase
        self.checked += 1
        condition = job.conditions.get(OVER[job.phase], {})
        if condition.get("status") != "True" or not condition.get("reason") or not condition.get("message"):
            yield f"{job.key} is {job.phase} with the condition {condition}"
        ended = f"{job.phase}/{job.reason}" + (f"/{job.failures}" if job.expected.count("/") > 1 else "")
        if job.expected and ended != job.expected:
            yield f"{job.key} ended with {ended} instead of {job.expected}: {job.message}"
