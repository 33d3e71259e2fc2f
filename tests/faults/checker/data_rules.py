# SPDX-License-Identifier: Apache-2.0
"""Rules for spec.source and spec.results, by what the pods themselves tell."""

from typing import Iterator

from tests.faults.checker.records import Job, Pod
from tests.faults.checker.rule import Change, Rule
from tests.faults.checker.state import State


class SourceBeforeWorker(Rule):
    name = "a worker begins when its source is there"

    def look(self, change: Change, state: State) -> Iterator[str]:
        before, pod = change.before, change.after
        if change.kind != "pods" or not pod or not pod.began or pod.fetches is None or (before and before.began):
            return
        self.checked += 1
        if pod.fetches:
            yield f"{pod.key} began before its source was fetched"


class ResultsBeforeEnd(Rule):
    """The results of a command that has ended are reported before its attempt ends by that: because all have succeeded, or
    because of crashes. A job that is deleted or suspended, a deadline, and a loss or crash elsewhere do not wait."""

    name = "a lease waits for the results of its workers"
    SLACK = 27.0  # seconds after timeoutSeconds: the 30 of gpupool, less what times in whole seconds and watches may be off

    def __init__(self) -> None:
        super().__init__()
        self._since = {}  # UID of a pod: when its command had ended

    def look(self, change: Change, state: State) -> Iterator[str]:
        if change.kind == "pods":
            if change.after and change.after.saves:
                self._since.setdefault(change.after.uid, change.when)
            elif change.before:
                self._since.pop(change.before.uid, None)
        elif change.kind == "gpujobs" and change.before and change.after:
            yield from self._look_at(change.before, change.after, change.when, state)

    def _look_at(self, before: Job, after: Job, when: float, state: State) -> Iterator[str]:
        ends = before.state == "Running" and (after.state != "Running" or after.lease_id != before.lease_id)
        if before.saves_for is None or not ends or after.deleting or after.outcome in ("Deleted", "Suspended"):
            return
        pods = [pod for pod in state.pods.values() if pod.lease == before.lease_id]
        succeeded, crashed = after.outcome == "Succeeded", [pod for pod in pods if pod.result]
        if not succeeded and not (after.failures > before.failures and crashed):
            return
        self.checked += 1
        early = [pod for pod in (pods if succeeded else crashed) if self._may_report(pod, before.saves_for, when)]
        if early and (succeeded or len(early) == len(crashed)):
            yield (f"{before.key} ended its attempt with {before.lease_id}, and {sorted(pod.key for pod in early)} had not "
                   f"reported results")

    def _may_report(self, pod: Pod, seconds: int, when: float) -> bool:
        return pod.saves and when - self._since.get(pod.uid, when) < seconds + self.SLACK
