# SPDX-License-Identifier: Apache-2.0
"""Rules for claims: leases of jobs that wait until others make room (docs/protocol.md, before step 2)."""

import collections
import time
from typing import Iterator

from tests.faults.checker.records import Job, job_of
from tests.faults.checker.rule import Change, Rule
from tests.faults.checker.slice_rules import RESERVES, fits, slices_of_gpus
from tests.faults.checker.state import State
from tests.kit.times import unix_seconds

MOST_AWAITED = 128
LATE = 120  # seconds after the longest grace period; then a claim is given up
YIELDED = "Yielded"  # the reason


def _begins(change: Change) -> bool:
    """Whether this writes a claim."""
    before, after = change.before, change.after
    return bool(change.kind == "gpujobs" and after and after.awaiting and
                not (before and before.awaiting and before.lease_id == after.lease_id))


def _ends(change: Change) -> bool:
    before, after = change.before, change.after
    return bool(change.kind == "gpujobs" and before and before.awaiting and
                not (after and after.awaiting and after.lease_id == before.lease_id))


class Holds:
    """Since when and until when jobs have held nodes."""

    def __init__(self) -> None:
        self._since = {}  # (UID of a job, (name, UID) of a node): since when
        self._until = {}  # the same: until when

    def look(self, change: Change) -> set[tuple[str, str]]:
        """The nodes that the job of this change begins to hold."""
        if change.kind != "gpujobs":
            return set()
        before, after = (side.places_held() if side else set() for side in (change.before, change.after))
        uid = (change.after or change.before).uid
        for place in before - after:
            self._since.pop((uid, place), None)
            self._until[uid, place] = change.when
        for place in after - before:
            self._since[uid, place] = change.when
        return after - before

    def since(self, uid: str, place: tuple[str, str]) -> float:
        """0 if it was so before the history began."""
        return self._since.get((uid, place), 0.0)

    def held_until(self, uid: str, places: set[tuple[str, str]]) -> float | None:
        """When the job left the last one of these; infinity: it holds some, None: it had none."""
        if any((uid, place) in self._since for place in places):
            return float("inf")
        return max((self._until[uid, place] for place in places if (uid, place) in self._until), default=None)


class ClaimStands(Rule):
    """It is written once. Whom it awaits has its nodes, or had them a moment ago."""

    name = "a claim awaits jobs that have its nodes, at most 128, and does not change"

    def __init__(self) -> None:
        super().__init__()
        self._holds, self._first = Holds(), {}  # lease value: what it was at first

    def look(self, change: Change, state: State) -> Iterator[str]:
        self._holds.look(change)
        job = change.after
        if change.kind != "gpujobs" or not job or not job.awaiting:
            return
        self.checked += 1
        now = (job.awaits, job.awaits_until, job.places_named())
        if self._first.setdefault(job.lease_id, now) != now:
            yield f"the claim {job.lease_id} of {job.key} was {self._first[job.lease_id]} and is {now}"
        if _begins(change):
            yield from self._look_at_new(job, change, state)

    def _look_at_new(self, job: Job, change: Change, state: State) -> Iterator[str]:
        shown = f"the claim {job.lease_id} of {job.key}"
        if not 0 < len(job.awaits) <= MOST_AWAITED or len(set(job.awaits)) != len(job.awaits) or job.uid in job.awaits:
            yield f"{shown} awaits {len(job.awaits)} jobs: {job.awaits}"
        graces = [state.jobs[uid].grace for uid in job.awaits if uid in state.jobs]
        if not job.awaits_until or unix_seconds(job.awaits_until) > time.time() + LATE + max(graces, default=30) + 10:
            yield f"{shown} ends at {job.awaits_until or 'no time'}"
        for uid in job.awaits:
            until = self._holds.held_until(uid, job.places_named())
            if uid in state.jobs and (until is None or change.led_since(until) > change.KNOWN):
                yield f"{shown} awaits {state.jobs[uid].key}, which has none of its nodes {sorted(job.nodes)}"


class ClaimComesFirst(Rule):
    """Whoever is told to stop reads so in a claim, which may be gone since a moment ago: the operator acts on what its watch
    shows. It is counted once, in the same write."""

    name = "a job makes room only for a claim that names it and its node, and counts it once"

    def __init__(self) -> None:
        super().__init__()
        self._claims = collections.defaultdict(dict)  # UID of a job: {lease value of a claim that awaits it: its nodes}
        self._ended = {}  # lease value of a claim: when it ended
        self._told = set()  # (lease value of a claim, UID)

    def look(self, change: Change, state: State) -> Iterator[str]:
        before, after = change.before, change.after
        if _ends(change):
            self._ended[before.lease_id] = change.when
        if _begins(change):
            for uid in after.awaits:
                self._claims[uid][after.lease_id] = after.places_named()
        if change.kind != "gpujobs" or not before or not after:
            return
        told = after.reason == YIELDED and after.state == "Releasing" and before.state in ("Held", "Running", "Restarting")
        claims = [value for value, places in self._claims[after.uid].items() if places & before.places_held()]
        live = [value for value in claims if change.led_since(self._ended.get(value, change.when)) <= change.KNOWN]
        if after.yields != before.yields:
            self.checked += 1
            yield from self._look_at(before, after, told, live)
            self._told |= {(value, after.uid) for value in live}
        elif told and any(value not in self._ended for value in live):
            yield f"{after.key} makes room ({after.message}) and has yielded {after.yields} times, as before"

    def _look_at(self, before: Job, after: Job, told: bool, live: list[str]) -> Iterator[str]:
        if after.yields != before.yields + 1 or not told or after.outcome != "Queued":
            yield (f"{after.key} had yielded {before.yields} times and has {after.yields} times; it went from {before.state} to "
                   f"{after.state} with outcome {after.outcome}: {after.reason}: {after.message}")
        if not live:
            yield f"{after.key} was told to make room ({after.message}), and no claim names it and one of {sorted(before.nodes)}"
        elif all((value, after.uid) in self._told for value in live):
            yield f"{after.key} was told twice to make room for {live}"


class NodesOfClaims(Rule):
    """Two operators of which one was paused may give a node twice: then the taint decides. So this looks only where who
    writes has known of the other. In sharing pools it is the slices that are claimed."""

    name = "the nodes of a claim go to no other job, and only jobs that it awaits have them"

    def __init__(self) -> None:
        super().__init__()
        self._holds, self._since = Holds(), {}  # lease value of a claim: since when

    def look(self, change: Change, state: State) -> Iterator[str]:
        new = self._holds.look(change)
        job = change.after
        if _begins(change):
            self._since[job.lease_id] = change.when
            for place in sorted(job.places_named()):
                yield from self._look_at_claim(job, place, change, state)
        elif new and not _ends(change):
            for place in sorted(new):
                yield from self._look_at_hold(job, place, change, state)

    def _look_at_claim(self, job: Job, place: tuple[str, str], change: Change, state: State) -> Iterator[str]:
        self.checked += change.settled(change.when)
        yield from self._look_at_hold(job, place, change, state)
        if job.slices:
            return
        for other in state.claimants(place[0]):
            if other.uid in (job.uid, *job.awaits) or place not in other.places_held():
                continue
            if change.sure_since(self._holds.since(other.uid, place)):
                yield f"{job.key} claims node {place[0]} with {job.lease_id}, which {other.key} has, and does not await it"

    def _look_at_hold(self, job: Job, place: tuple[str, str], change: Change, state: State) -> Iterator[str]:
        """Of a claim or another lease."""
        if job.slices:
            yield from self._look_at_slices(job, place, change, state)
            return
        for other in state.claimants(place[0]):
            if other.uid == job.uid or not other.awaiting or place not in other.places_named():
                continue
            sure = change.sure_since(self._since.get(other.lease_id, 0.0))
            self.checked += sure
            if sure:
                yield (f"{job.key} is {job.state} with {job.lease_id} on node {place[0]}, which {other.key} has claimed with "
                       f"{other.lease_id}")

    def _look_at_slices(self, job: Job, place: tuple[str, str], change: Change, state: State) -> Iterator[str]:
        """All claims on the node fit beside what jobs have that make no room."""
        node = state.nodes.get(place[0])
        there = [other for other in state.claimants(place[0]) if other.slices and place in other.places_named()]
        if not node or node.uid != place[1] or not any(other.awaiting for other in there):
            return
        awaited = {uid for other in there if other.awaiting for uid in other.awaits}
        stay = [other for other in there if other.uid not in awaited and (other.awaiting or other.state in RESERVES) and
                (other.uid == job.uid or change.sure_since(self._began(other, place)))]
        total = slices_of_gpus(node, state)
        self.checked += len(stay) > 1
        if total and not fits([other.slices for other in stay for _ in range(other.nodes[place[0]][1])], total):
            shown = [f"{o.key} is {o.state} with {o.nodes[place[0]][1]} x {o.slices}" for o in stay]
            yield f"{job.key} has {job.lease_id} on node {place[0]}, whose GPUs have {total} slices; that is too much: {shown}"

    def _began(self, job: Job, place: tuple[str, str]) -> float:
        return self._since.get(job.lease_id, 0.0) if job.awaiting else self._holds.since(job.uid, place)


class TakesWhatIsFree(Rule):
    name = "a claim takes its nodes when the jobs that it awaits have left them"

    def look(self, change: Change, state: State) -> Iterator[str]:
        before, job = change.before, change.after
        if not _ends(change) or not job or job.state in ("", "Releasing"):
            return
        self.checked += 1
        if job.state != ("Held" if job.slices else "Taking") or (job.lease_id, job.nodes) != (before.lease_id, before.nodes):
            yield f"the claim {before.lease_id} of {job.key} for {sorted(before.nodes)} is now {job.state} with {job.lease_id}"
        for place in sorted(before.places_named()):
            others = {uid for uid in before.awaits if uid in state.jobs and place in state.jobs[uid].places_held()}
            node = state.nodes.get(place[0])
            others |= {job_of(value) for value in (node.taints if node else [])} & set(before.awaits)
            if others:
                yield f"{job.key} takes node {place[0]} with {job.lease_id}, which {sorted(others)} have not left"


class ClaimEnds(Rule):
    """In time in which somebody leads."""

    name = "a claim ends at the time that it says"
    LIMIT = 5.0

    def __init__(self) -> None:
        super().__init__()
        self._until = {}  # lease value of a claim: (job, by the clock of `when`, until when)
        self._offset = time.time() - time.monotonic()

    def look(self, change: Change, state: State) -> Iterator[str]:
        if _ends(change):
            self._until.pop(change.before.lease_id, None)
        if _begins(change) and change.after.awaits_until:
            until = unix_seconds(change.after.awaits_until) - self._offset
            self._until[change.after.lease_id] = (change.after.key, until)
        if change.kind != "leases" or not change.after:
            return
        for value, (key, until) in list(self._until.items()):
            self.checked += 1
            if change.led_since(until) > self.LIMIT:
                del self._until[value]
                yield f"the claim {value} of {key} should have ended {change.when - until:.1f} s ago"
