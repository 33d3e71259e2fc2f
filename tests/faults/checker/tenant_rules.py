# SPDX-License-Identifier: Apache-2.0
"""Rules for tenants of pools with spec.queue, of which whole nodes are rented."""

from typing import Iterator

from tests.faults.checker.records import Job
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
