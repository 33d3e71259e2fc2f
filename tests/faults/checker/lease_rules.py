# SPDX-License-Identifier: Apache-2.0
"""Rules for the changes of a lease over time."""

from typing import Iterator

from tests.faults.checker.records import job_of
from tests.faults.checker.rule import Change, Rule
from tests.faults.checker.state import State


class ValueNamesOneThing(Rule):
    """A value says which attempt and which nodes, for ever; the numbers of a job only grow."""

    name = "a lease value stands for one attempt and its nodes"

    def __init__(self) -> None:
        super().__init__()
        self._meaning, self._last = {}, {}

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after
        if change.kind != "gpujobs" or not job or not job.lease_id:
            return
        self.checked += 1
        places = {(name, uid) for name, (uid, _) in job.nodes.items()} | set(job.lost)
        attempt, first = self._meaning.setdefault(job.lease_id, (job.attempt, places))
        if attempt != job.attempt:
            yield f"{job.lease_id} was attempt {attempt} and is attempt {job.attempt}"
        if places - first:
            yield f"{job.lease_id} was for {sorted(first)} and is for {sorted(places)}"
        number = int(job.lease_id.rpartition(".")[2])
        if number < self._last.get(job.uid, 0):
            yield f"{job.lease_id} comes after number {self._last[job.uid]}"
        self._last[job.uid] = number


class TakingMoves(Rule):
    """While somebody leads. A change of the lease's status, and its taint on a node, are movement."""

    name = "a lease that takes nodes does not stand still for 5 s"
    LIMIT = 5.0

    def __init__(self) -> None:
        super().__init__()
        self._moved = {}  # UID of a job that is Taking: when it moved last
        self._said = set()  # lease values

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after or change.before
        if change.kind == "gpujobs":
            if change.after and job.state == "Taking":
                self._moved[job.uid] = change.when
            else:
                self._moved.pop(job.uid, None)
        elif change.kind == "nodes" and change.after:
            for value in change.after.taints:
                if job_of(value) in self._moved:
                    self._moved[job_of(value)] = change.when
        elif change.kind == "leases" and change.after:
            yield from self._overdue(state, change)

    def _overdue(self, state: State, change: Change) -> Iterator[str]:
        for uid, when in self._moved.items():
            self.checked += 1
            job = state.jobs[uid]
            if change.led_since(when) > self.LIMIT and job.lease_id not in self._said:
                self._said.add(job.lease_id)
                yield f"{job.key} is Taking {sorted(job.nodes)} with {job.lease_id}: no move for {change.when - when:.1f} s"


class EditsMoveNothing(Rule):
    """For jobs whose template is edited and to which nothing else happens."""

    name = "an edited job keeps its lease and its nodes"

    def __init__(self) -> None:
        super().__init__()
        self._running = {}  # UID: (lease value, nodes)

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after
        if change.kind != "gpujobs" or not job or not job.keeps_nodes:
            return
        has = (job.lease_id, sorted(job.nodes))
        if job.state == "Running":
            self._running.setdefault(job.uid, has)
        if job.uid not in self._running or job.deleting:
            return
        self.checked += 1
        if job.phase in ("Releasing", "Succeeded", "Failed"):
            if job.reason != "Completed":
                yield f"{job.key} was edited and ends: {job.reason}: {job.message}"
        elif self._running[job.uid] != has:
            yield f"{job.key} ran on {self._running[job.uid]} and was edited; now it has {has}"
