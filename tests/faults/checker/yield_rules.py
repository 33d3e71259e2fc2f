# SPDX-License-Identifier: Apache-2.0
"""Rules for attempts that end and go on later: what is counted, what is kept, and where they may go on."""

import json
from typing import Iterator

from tests.faults.checker.records import AWAITING, Job, Pod
from tests.faults.checker.rule import Change, Rule
from tests.faults.checker.state import State

YIELDED = ("Yielded", "Draining", "Moving")  # reasons
MOST_ENTRIES, MOST_BYTES = 10, 2048  # of status.history


class YieldsAreFree(Rule):
    name = "an attempt that yields is not charged, and attempts are numbered one by one"

    def __init__(self) -> None:
        super().__init__()
        self._free = {}  # UID: failures when the attempt ended, until the next one begins

    def look(self, change: Change, state: State) -> Iterator[str]:
        before, after = change.before, change.after
        if change.kind != "gpujobs" or not before or not after:
            return
        if not before.attempts <= after.attempts <= before.attempts + 1:
            yield f"{after.key} had {before.attempts} attempts and has {after.attempts}"
        if _ends(before, after) and (after.reason in YIELDED or after.outcome == "Suspended"):
            self.checked += 1
            self._free[after.uid] = before.failures
        if after.failures != self._free.get(after.uid, after.failures):
            yield (f"attempt {after.attempts - 1} of {after.key} yielded with {self._free[after.uid]} failures; now there are "
                   f"{after.failures}: {after.reason}: {after.message}")
        if after.state == "Running" and before.state != "Running":
            self.checked += 1
            self._free.pop(after.uid, None)
            if (after.attempt, after.attempts) != (before.attempts, before.attempts + 1):
                yield (f"{after.key} begins attempt {after.attempt} after {before.attempts} attempts, and says that it has "
                       f"{after.attempts}")


def _ends(before: Job, after: Job) -> bool:
    """Whether an attempt, or the way to it, ends here."""
    if before.state == "Restarting":  # on the way to the next one, of which it may be told not to begin
        return after.state == "Releasing"
    return before.state in ("Taking", "Held", "Running") and (after.state == "Releasing" or after.lease_id != before.lease_id)


class StepNeverFalls(Rule):
    name = "the step of the last checkpoint never falls"

    def __init__(self) -> None:
        super().__init__()
        self._steps = {}  # UID: the greatest

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after
        if change.kind != "gpujobs" or not job or (job.step is None and job.uid not in self._steps):
            return
        self.checked += 1
        before = self._steps.get(job.uid, job.step)
        if job.step is None or job.step < before:
            yield f"the last checkpoint of {job.key} was at step {before} and is at {job.step}"
        self._steps[job.uid] = max(before, job.step or 0)


class SuccessIsFinal(Rule):
    """Ranks that end with code 0 before anybody told them to stop have done their work, whatever the operator was about to
    do. On a node that was given up before it told this, the next attempt may have begun; and who edits a job before the
    operator knows that its workers run gets the job that he wants now. Results that were not saved are made again."""

    name = "a job whose ranks have all ended well is not run again"

    def __init__(self) -> None:
        super().__init__()
        self._well = {}  # (job UID, attempt): ranks
        self._begun = {}  # job UID: the last attempt that has begun
        self._done = {}  # job UID: UIDs of the pods that it had when all were done

    def look(self, change: Change, state: State) -> Iterator[str]:
        if change.kind == "pods" and change.after:
            yield from self._look_at_pod(change.before, change.after, state)
        elif change.kind == "gpujobs" and change.after and change.after.uid in self._done:
            job = change.after
            if _begins_anew(job):
                del self._done[job.uid]
            elif job.phase in ("Failed", "Suspended", "Queued"):
                yield (f"all ranks of attempt {self._begun.get(job.uid)} of {job.key} ended with code 0, and it is {job.phase}: "
                       f"{job.reason}")

    def _look_at_pod(self, before: Pod | None, pod: Pod, state: State) -> Iterator[str]:
        if pod.began and not (before and before.began):
            self._begun[pod.job] = max(pod.attempt, self._begun.get(pod.job, 0))
            if pod.uid not in self._done.get(pod.job, {pod.uid}):
                yield f"{pod.key} runs attempt {pod.attempt}, and all ranks of the one before had ended with code 0"
        if _is_done(pod) and not (before and _is_done(before)):
            self._end(pod, state)

    def _end(self, pod: Pod, state: State) -> None:
        job, well = state.jobs.get(pod.job), self._well.setdefault((pod.job, pod.attempt), set())
        if not job or _begins_anew(job) or job.outcome == "Failed" or any(name == pod.node for name, _ in job.lost):
            return
        well.add(pod.rank)
        if len(well) == pod.ranks and pod.attempt == self._begun.get(pod.job, pod.attempt):
            self.checked += 1
            self._done[pod.job] = {other.uid for other in state.pods.values() if other.job == pod.job}


def _is_done(pod: Pod) -> bool:
    return pod.result == 0 and not pod.stopped and not pod.unsaved


def _begins_anew(job: Job) -> bool:
    """Or not at all."""
    return job.deleting or (job.state == "Releasing" and job.reason == "SpecChanged")


class ActiveTimeIsKept(Rule):
    """It counts for the deadline. A job that was suspended begins anew."""

    name = "active seconds are kept, and the clock stands in the queue"

    def look(self, change: Change, state: State) -> Iterator[str]:
        before, after = change.before, change.after
        if change.kind != "gpujobs" or not before or not after or not after.attempts:
            return
        self.checked += 1
        if after.active < before.active and after.phase != "Suspended":
            yield f"{after.key} was active for {before.active} s and is {after.phase} with {after.active} s"
        if after.phase == "Queued" and after.clock_runs:
            yield f"{after.key} waits in the queue and has a startTime"


class DrainedNodesStayFree(Rule):
    """Of those that have been drained for 5 s in which somebody leads: the operator acts on what its watch shows. A claim on
    one is given up, so it does not take it either."""

    name = "a drained node is in no new lease"
    LIMIT = 5.0

    def __init__(self) -> None:
        super().__init__()
        self._since = {}  # UID of a node: when it was drained

    def look(self, change: Change, state: State) -> Iterator[str]:
        if change.kind == "nodes":
            self._note(change)
        elif change.kind == "gpujobs" and change.after and self._since:
            yield from self._look_at(change.before, change.after, change)

    def _note(self, change: Change) -> None:
        before, node = change.before, change.after
        if before and not (node and node.drained and node.uid == before.uid):
            self._since.pop(before.uid, None)
        if node and node.drained:
            self._since.setdefault(node.uid, change.when)

    def _look_at(self, before: Job | None, job: Job, change: Change) -> Iterator[str]:
        same = before and (before.lease_id == job.lease_id and before.awaiting == job.awaiting or job.state == "Restarting")
        had = before.nodes if before and same else {}
        if job.state not in (AWAITING, "Taking", "Held", "Restarting"):
            return
        for name, (uid, _) in job.nodes.items():
            if had.get(name, ("",))[0] == uid:
                continue
            self.checked += 1
            if uid in self._since and change.led_since(self._since[uid]) > self.LIMIT:
                yield (f"{job.key} is {job.state} with {job.lease_id} on node {name}, which has been drained for "
                       f"{change.when - self._since[uid]:.1f} s")


class HistoryIsShort(Rule):
    name = "the history of attempts is short and in order"

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after
        if change.kind != "gpujobs" or not job or not job.history:
            return
        self.checked += 1
        size, attempts = len(json.dumps(job.history, separators=(",", ":"))), [end.get("attempt", 0) for end in job.history]
        if len(attempts) > MOST_ENTRIES or size > MOST_BYTES:
            yield f"the history of {job.key} has {len(attempts)} entries and {size} bytes"
        if attempts != sorted(set(attempts)) or attempts[-1] >= job.attempts:
            yield f"the history of {job.key} tells of attempts {attempts}, of {job.attempts}"
