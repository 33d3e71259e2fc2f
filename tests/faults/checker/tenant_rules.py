# SPDX-License-Identifier: Apache-2.0
"""Rules for tenants of pools with spec.queue, of which whole nodes are rented."""

import collections
import dataclasses
import datetime
import time
from typing import Iterator

from tests.faults.checker.records import Job, Pool
from tests.faults.checker.rule import Change, Rule
from tests.faults.checker.state import State


def gpus_of_lease(job: Job, state: State) -> int:
    """What it holds, be it as a plan; 0 of a claim. Nodes that have gone meanwhile count nothing."""
    return sum(state.nodes[name].gpus for name, _ in job.places_held() if name in state.nodes)


class WithinLimit(Rule):
    """Where who writes has known of what its jobs had before: two operators of which one was paused may give too much."""

    name = "a tenant holds no more GPUs than its limit"

    def __init__(self) -> None:
        super().__init__()
        self._since = {}  # UID of a job: since when it holds as much as now

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after
        if change.kind != "gpujobs" or not job:
            return
        before = change.before.places_held() if change.before else set()
        if not job.places_held() - before:
            return
        self._since[job.uid] = change.when
        limit = state.pools[job.pool].limit_of(job.tenant) if job.pool in state.pools and job.tenant else None
        if limit is None or job.slices:
            return
        self.checked += 1
        others = [other for other in state.jobs.values() if other.uid != job.uid and not other.slices and
                  (other.pool, other.tenant) == (job.pool, job.tenant) and other.places_held()]
        known = [other for other in others if change.sure_since(self._since.get(other.uid, 0.0))]
        held = sum(gpus_of_lease(each, state) for each in (job, *known))
        if held > limit:
            yield (f"tenant {job.tenant} may hold {limit} GPUs of pool {job.pool} and holds {held} since {job.key} is {job.state}: "
                   f"{sorted(other.key for other in known)}")


@dataclasses.dataclass
class _Account:
    """Of what a tenant has held, in GPU-seconds."""

    at: float
    leaders: int  # how many have led before
    used: float = 0.0
    held: int = 0
    peak: int = 0
    vague: float = 0.0  # since nobody but the operator knows when it noticed an end

    def begin(self, gpus: int, since: float, when: float) -> None:
        self.advance(when)
        self.held += gpus
        self.peak = max(self.peak, self.held)
        self.used += gpus * max(0.0, when - since)
        self.vague += UsageIsRight.NOTICED * gpus

    def end(self, gpus: int, when: float, late: float) -> None:
        """late: for how long the news may have been under way."""
        self.advance(when)
        self.held -= gpus
        self.vague += (UsageIsRight.NOTICED + late) * gpus

    def advance(self, when: float) -> None:
        self.used += self.held * max(0.0, when - self.at)
        self.at = max(self.at, when)

    def used_until(self, moment: float) -> float:
        """A moment of late."""
        return self.used - self.held * max(0.0, self.at - moment)


class UsageIsRight(Rule):
    """Times that the operator has written count, as it uses them itself. Each operator that begins to lead may lose, or count
    again, what was used in the last second before. What runs are too short for is the decay."""

    name = "what tenants have used is what they held, within 1 %"
    NOTICED, SHARE = 0.5, 0.01
    LOST = 2.0  # seconds: times in a status are whole seconds
    RECENT = 5.0  # seconds in which a machine that was slow may still be so

    def __init__(self) -> None:
        super().__init__()
        self._accounts: dict[tuple[str, str], _Account] = {}  # (pool, tenant)
        self._held: dict[str, tuple[str, str, int]] = {}  # UID of a job: (pool, tenant, GPUs)
        self._leader, self._leaders = "", 0
        self._delays: collections.deque[tuple[float, float]] = collections.deque()  # of what the checker itself writes

    def look(self, change: Change, state: State) -> Iterator[str]:
        if change.kind == "ticks":
            self._delays.append((change.when, change.after))
        elif change.kind == "leases" and change.after:
            leader = change.after["spec"].get("holderIdentity") or ""
            self._leaders += leader != self._leader
            self._leader = leader
        elif change.kind == "gpujobs":
            self._note(change, state)
        elif change.kind == "gpupools" and change.after and change.before and change.after.used != change.before.used:
            yield from self._compare(change.after, change.when)

    def _late(self, when: float) -> float:
        while self._delays and self._delays[0][0] < when - self.RECENT:
            self._delays.popleft()
        return max((delay for _, delay in self._delays), default=0.0)

    def _note(self, change: Change, state: State) -> None:
        job = change.after
        uid = (change.after or change.before).uid
        before, now = self._held.pop(uid, None), None
        if job and job.tenant and not job.slices and job.places_held():
            now = self._held[uid] = (job.pool, job.tenant, gpus_of_lease(job, state))
        if before == now:
            return
        if before:
            self._accounts[before[:2]].end(before[2], change.when, self._late(change.when))
        if now and job:
            account = self._accounts.setdefault(now[:2], _Account(change.when, self._leaders))
            account.begin(now[2], change.when if before else _moment(job.held_since, change.when), change.when)

    def _compare(self, pool: Pool, when: float) -> Iterator[str]:
        for tenant, told in pool.used.items():
            account = self._accounts.get((pool.name, tenant))
            if not account:
                continue
            account.advance(when)
            self.checked += 1
            used = account.used_until(_moment(pool.as_of, when))
            most = self.SHARE * used + account.vague + self.LOST * (1 + self._leaders - account.leaders) * account.peak
            if abs(told / 1000 - used) > most:
                yield (f"tenant {tenant} of pool {pool.name} has used {told / 1000:.1f} GPU-seconds by its status, and held GPUs "
                       f"for {used:.1f}, give or take {most:.1f}")


def _moment(stamp: str, otherwise: float) -> float:
    """As Change.when."""
    if not stamp:
        return otherwise
    return datetime.datetime.fromisoformat(stamp).timestamp() - time.time() + time.monotonic()
