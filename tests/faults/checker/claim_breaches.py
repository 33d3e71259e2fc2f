# SPDX-License-Identifier: Apache-2.0
"""A job that makes room for another one as it should, and breaches of each rule for that."""

import time
from typing import Any

from tests.faults.checker.claim_rules import (LATE, MOST_AWAITED, ClaimComesFirst, ClaimEnds, ClaimStands, NodesOfClaims,
                                              TakesWhatIsFree)
from tests.faults.checker.forger import NOBODY, Forger
from tests.faults.checker.tenant_rules import UsageIsRight, WithinLimit
from tests.faults.checker.yield_breaches import leave, run
from tests.faults.checker.yield_rules import DrainedNodesStayFree, YieldsAreFree

ROOM: dict[str, Any] = {"reason": "Yielded", "message": "makes room for another", "phase": "Releasing", "outcome": "Queued"}


def _at(seconds: float) -> str:
    """So long from now."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + seconds))


def _claim(forger: Forger, node: str, *awaited: str, until: float = LATE, **more: Any) -> str:
    """The job that waits, for others or for one that nobody knows."""
    job = forger.job()
    awaits = [forger.uid(other) for other in awaited] or [NOBODY]
    forger.status(job, 1, "Awaiting", node, awaits=awaits, until=_at(until), phase="Queued", **more)
    return job


def _borrower(forger: Forger) -> tuple[str, str]:
    """(job, node) of one that runs."""
    job, node = forger.job(), forger.node()
    run(forger, job, node, 1, 0)
    return job, node


def _hold_slices(forger: Forger, node: str, slices: int) -> str:
    job = forger.job()
    forger.status(job, 1, "Held", node, slices=slices)
    return job


def _slices(forger: Forger, slices: int) -> tuple[str, str]:
    """(job, node) of one that has so many of the ten slices of the node."""
    node = forger.node()
    forger.gpus(node, 0)
    return _hold_slices(forger, node, slices), node


def _make_room(forger: Forger, job: str, node: str, yields: int = 1, **more: Any) -> None:
    forger.status(job, 1, "Releasing", node, yields=yields, **{**ROOM, **more})


def _give_up(forger: Forger, job: str) -> None:
    forger.status(job, 1, "", phase="Queued", reason="VictimStuck")


def _given_up(forger: Forger) -> tuple[str, str]:
    """(job, node) of one that a claim awaited."""
    borrower, node = _borrower(forger)
    _give_up(forger, _claim(forger, node, borrower))
    return borrower, node


def _end(forger: Forger, job: str, node: str, number: int) -> None:
    done = {"type": "Complete", "status": "True", "reason": "Completed", "message": "all is well"}
    leave(forger, job, node, number, "Succeeded", "Succeeded", reason="Completed", message="all is well", conditions=[done])


def lawful_claims(forger: Forger) -> None:
    """A job makes room for another one, which takes the node and ends; a claim that is given up; a limit that is kept."""
    borrower, node = _borrower(forger)
    told = forger.pod(borrower, node)
    firm = _claim(forger, node, borrower)
    _make_room(forger, borrower, node)
    forger.end_pod(told, stop_signal=15)
    forger.unmark(node)
    forger.status(borrower, 1, "", phase="Queued", reason="Yielded", startTime=None)
    run(forger, firm, node, 1, 0)
    _end(forger, firm, node, 1)
    run(forger, borrower, node, 2, 1)
    again = _claim(forger, node, borrower)
    _give_up(forger, again)
    _end(forger, borrower, node, 2)
    leaves, node = _slices(forger, 6)
    stays = _hold_slices(forger, node, 4)
    small = _claim(forger, node, leaves, slices=5)
    forger.status(leaves, 1, "Releasing", node, slices=6, yields=1, **ROOM)
    forger.status(leaves, 1, "", phase="Queued", reason="Yielded", startTime=None)
    forger.status(small, 1, "Held", node, slices=5)
    pool = forger.pool(tenants=[{"name": "few", "namespaces": ["few"], "limit": 2}])
    few = [forger.job(pool) for _ in range(2)]
    for job in few:
        forger.status(job, 1, "Taking", forger.node(gpus=1), tenant="few")
    for job in (again, leaves, stays, small, *few):
        forger.api.delete("gpujobs", job, forger.space)


def begin_early(forger: Forger) -> None:
    """What is wrong, or will be, when some time has passed."""
    forger.kept["overdue"] = _claim(forger, forger.node(), until=-LATE)
    forger.kept["late"] = _given_up(forger)
    forger.kept["pool"] = pool = forger.pool()
    forger.kept["began"] = time.monotonic()
    for tenant in ("few", "many"):
        forger.status(forger.job(pool), 1, "Taking", forger.node(gpus=2), tenant=tenant)


def a_claim_awaits_too_many(forger: Forger) -> str:
    job = forger.job()
    awaits = [f"{i:08}{NOBODY[8:]}" for i in range(MOST_AWAITED + 1)]
    forger.status(job, 1, "Awaiting", forger.node(), awaits=awaits, until=_at(LATE), phase="Queued")
    return forger.uid(job)


def a_claim_awaits_nobody(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "Awaiting", forger.node(), until=_at(LATE), phase="Queued")
    return forger.uid(job)


def a_claim_awaits_a_job_elsewhere(forger: Forger) -> str:
    borrower, _ = _borrower(forger)
    return forger.uid(_claim(forger, forger.node(), borrower))


def a_claim_awaits_more(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    job = _claim(forger, node, borrower)
    forger.status(job, 1, "Awaiting", node, awaits=[forger.uid(borrower), NOBODY], until=_at(LATE), phase="Queued")
    return forger.uid(job)


def a_claim_is_for_ever(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    return forger.uid(_claim(forger, node, borrower, until=100 * LATE))


def a_job_is_told_without_a_claim(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    _make_room(forger, borrower, node)
    return borrower


def a_job_is_told_for_the_claim_on_another_node(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    _claim(forger, forger.node(), borrower)
    _make_room(forger, borrower, node)
    return borrower


def a_job_is_told_that_is_not_awaited(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    _claim(forger, node)
    _make_room(forger, borrower, node)
    return borrower


def a_job_is_told_for_a_claim_that_is_gone(forger: Forger) -> str:
    """For a while in which somebody leads. The next one is given up at once: the time before it is shown again is its while."""
    assert forger.long_drained
    borrower, node = forger.kept["late"]
    _make_room(forger, borrower, node)
    forger.kept["late"] = _given_up(forger)
    return borrower


def a_yield_is_not_counted(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    _claim(forger, node, borrower)
    _make_room(forger, borrower, node, yields=0)
    return borrower


def a_yield_counts_twice(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    _claim(forger, node, borrower)
    _make_room(forger, borrower, node, yields=2)
    return borrower


def a_yield_is_counted_later(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    _claim(forger, node, borrower)
    _make_room(forger, borrower, node)
    _make_room(forger, borrower, node, yields=2)
    return borrower


def a_claimed_node_is_taken(forger: Forger) -> str:
    def breach() -> str:
        forger.rest()
        borrower, node = _borrower(forger)
        _claim(forger, node, borrower)
        job = forger.job()
        forger.status(job, 1, "Taking", node)
        return job
    return forger.until_seen(breach)


def a_claimed_node_replaces_another(forger: Forger) -> str:
    def breach() -> str:
        forger.rest()
        borrower, node = _borrower(forger)
        _claim(forger, node, borrower)
        job, own = _borrower(forger)
        forger.status(job, 2, "Restarting", own, node, attempt=1)
        return job
    return forger.until_seen(breach)


def a_node_is_claimed_twice(forger: Forger) -> str:
    def breach() -> str:
        forger.rest()
        borrower, node = _borrower(forger)
        _claim(forger, node, borrower)
        return _claim(forger, node, borrower)
    return forger.until_seen(breach)


def a_node_is_claimed_that_another_job_has(forger: Forger) -> str:
    def breach() -> str:
        forger.rest()
        borrower, _ = _borrower(forger)
        _, node = _borrower(forger)
        return _claim(forger, node, borrower)
    return forger.until_seen(breach)


def slices_are_claimed_that_another_job_has(forger: Forger) -> str:
    def breach() -> str:
        forger.rest()
        leaves, node = _slices(forger, 4)
        _hold_slices(forger, node, 6)
        return _claim(forger, node, leaves, slices=5)
    return forger.until_seen(breach)


def claimed_slices_are_taken(forger: Forger) -> str:
    def breach() -> str:
        forger.rest()
        leaves, node = _slices(forger, 6)
        _claim(forger, node, leaves, slices=8)
        forger.rest()
        return _hold_slices(forger, node, 4)
    return forger.until_seen(breach)


def a_claim_takes_slices_that_another_job_has(forger: Forger) -> str:
    leaves, node = _slices(forger, 4)
    firm = _claim(forger, node, leaves, slices=4)
    forger.status(firm, 1, "Held", node, slices=4)
    return firm


def a_claim_takes_what_another_job_has(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    firm = _claim(forger, node, borrower)
    forger.status(firm, 1, "Taking", node)
    return firm


def a_claim_takes_what_carries_a_mark(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    firm = _claim(forger, node, borrower)
    _make_room(forger, borrower, node)
    forger.status(borrower, 1, "", phase="Queued", startTime=None)
    forger.status(firm, 1, "Taking", node)
    return firm


def a_claim_takes_another_node(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    firm = _claim(forger, node, borrower)
    forger.status(firm, 1, "Taking", forger.node())
    return firm


def a_claim_holds_at_once(forger: Forger) -> str:
    node = forger.node()
    firm = _claim(forger, node)
    forger.mark(node, firm)
    forger.status(firm, 1, "Held", node)
    return firm


def a_claim_outlasts_its_time(forger: Forger) -> str:
    mark = forger.uid(forger.kept["overdue"])
    forger.wait_for_complaint(mark)
    return mark


def a_tenant_has_too_much(forger: Forger) -> str:
    pool = forger.pool(tenants=[{"name": "few", "namespaces": ["few"], "limit": 3}])

    def breach() -> str:
        forger.rest()
        jobs = [forger.job(pool) for _ in range(2)]
        for job in jobs:
            forger.status(job, 1, "Taking", forger.node(gpus=2), tenant="few")
        return jobs[1]
    return forger.until_seen(breach)


def one_of_the_others_has_too_much(forger: Forger) -> str:
    job = forger.job(forger.pool(others={"limit": 1}))
    forger.status(job, 1, "Taking", forger.node(gpus=2), tenant=forger.space)
    return job


def _tell_used(forger: Forger, **gpu_seconds: float) -> None:
    tenants = [{"name": name, "usage": str(int(1000 * used))} for name, used in gpu_seconds.items()]
    forger.api.patch("gpupools", forger.kept["pool"], {"status": {"queue": {"tenants": tenants}}}, sub="status")


def what_a_tenant_has_used_is_lost(forger: Forger) -> str:
    """A half of it."""
    began = forger.kept["began"]
    _tell_used(forger, few=time.monotonic() - began, many=2 * (time.monotonic() - began))
    return "tenant few of pool " + forger.kept["pool"]


def a_tenant_is_charged_twice(forger: Forger) -> str:
    _tell_used(forger, many=4 * (time.monotonic() - forger.kept["began"]))
    return "tenant many of pool " + forger.kept["pool"]


def a_drained_node_is_claimed(forger: Forger) -> str:
    return _claim(forger, forger.long_drained)


def a_yield_for_a_claim_is_charged(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    _claim(forger, node, borrower)
    _make_room(forger, borrower, node, failures=1)
    return borrower


def a_yield_between_attempts_is_charged(forger: Forger) -> str:
    borrower, node = _borrower(forger)
    forger.status(borrower, 2, "Restarting", node, attempt=1, reason="Draining")
    _claim(forger, node, borrower)
    forger.status(borrower, 2, "Releasing", node, attempt=1, yields=1, failures=1, **ROOM)
    return borrower


BROKEN = {
    ClaimStands.name: [a_claim_awaits_too_many, a_claim_awaits_nobody, a_claim_awaits_a_job_elsewhere, a_claim_awaits_more,
                       a_claim_is_for_ever],
    ClaimComesFirst.name: [a_job_is_told_without_a_claim, a_job_is_told_for_the_claim_on_another_node,
                           a_job_is_told_that_is_not_awaited, a_job_is_told_for_a_claim_that_is_gone, a_yield_is_not_counted,
                           a_yield_counts_twice, a_yield_is_counted_later],
    TakesWhatIsFree.name: [a_claim_takes_what_another_job_has, a_claim_takes_what_carries_a_mark, a_claim_takes_another_node,
                           a_claim_holds_at_once, a_claim_takes_slices_that_another_job_has],
    DrainedNodesStayFree.name: [a_drained_node_is_claimed],
    YieldsAreFree.name: [a_yield_for_a_claim_is_charged, a_yield_between_attempts_is_charged],
    NodesOfClaims.name: [a_claimed_node_is_taken, a_claimed_node_replaces_another, a_node_is_claimed_twice,
                         a_node_is_claimed_that_another_job_has, slices_are_claimed_that_another_job_has,
                         claimed_slices_are_taken],
    WithinLimit.name: [a_tenant_has_too_much, one_of_the_others_has_too_much],
    UsageIsRight.name: [what_a_tenant_has_used_is_lost, a_tenant_is_charged_twice],
    ClaimEnds.name: [a_claim_outlasts_its_time],
}
