# SPDX-License-Identifier: Apache-2.0
"""A job that yields as it should, and breaches of each rule for it."""

from typing import Any

from tests.faults.checker.forger import Forger
from tests.faults.checker.yield_rules import (MOST_BYTES, MOST_ENTRIES, ActiveTimeIsKept, DrainedNodesStayFree, HistoryIsShort,
                                              StepNeverFalls, SuccessIsFinal, YieldsAreFree)
from tests.kit.api import Object


def _entries(*attempts: int, **more: Any) -> list[Object]:
    """Of a history."""
    return [{"attempt": attempt, "cause": "Draining", "nodes": "n", **more} for attempt in attempts]


def run(forger: Forger, job: str, node: str, number: int, attempt: int) -> None:
    forger.status(job, number, "Taking", node, attempt=attempt, phase="Starting")
    forger.mark(node, job, number)
    forger.status(job, number, "Held", node, attempt=attempt, phase="Starting")
    forger.status(job, number, "Running", node, attempt=attempt, phase="Running", startTime="2020-01-01T00:00:00Z")


def leave(forger: Forger, job: str, node: str, number: int, outcome: str, phase: str, **then: Any) -> None:
    """then: of the status when the node is given back."""
    forger.status(job, number, "Releasing", node, attempt=number - 1, outcome=outcome, phase="Releasing",
                  reason="Draining" if outcome == "Queued" else outcome)
    forger.unmark(node)
    forger.status(job, number, "", phase=phase, startTime=None, **then)


def lawful_yields(forger: Forger) -> None:
    """A job that yields to a drain, is suspended, and ends well although somebody suspends it again."""
    a, b, c = forger.node(), forger.node(), forger.node()
    job = forger.job()
    forger.drain(a)  # as late as the operator may not know of it
    run(forger, job, a, 1, 0)
    forger.end_pod(forger.pod(job, a), stop_signal=15, report='{"step":7}')
    leave(forger, job, a, 1, "Queued", "Queued", activeSeconds=9, checkpoint={"step": 7}, history=_entries(0))
    run(forger, job, b, 2, 1)
    told = forger.pod(job, b, 2, attempt=1)
    forger.end_pod(told, stop_signal=15)
    leave(forger, job, b, 2, "Suspended", "Suspended", activeSeconds=None, checkpoint={"step": 7}, history=_entries(0, 1))
    run(forger, job, c, 3, 2)
    last = forger.pod(job, c, 3, attempt=2)
    forger.status(job, 3, "Releasing", c, attempt=2, outcome="Suspended", phase="Releasing", reason="Suspended")
    forger.end_pod(last)
    forger.status(job, 3, "Releasing", c, attempt=2, outcome="Succeeded", phase="Releasing", reason="Completed")
    forger.unmark(c)
    done = {"type": "Complete", "status": "True", "reason": "Completed", "message": "all is well"}
    forger.status(job, 3, "", phase="Succeeded", reason="Completed", message="all is well", conditions=[done])


def _running(forger: Forger) -> tuple[str, str]:
    """(job, node) of a job that runs its first attempt."""
    job, node = forger.job(), forger.node()
    run(forger, job, node, 1, 0)
    return job, node


def a_yield_is_charged(forger: Forger) -> str:
    job, node = _running(forger)
    forger.status(job, 1, "Releasing", node, outcome="Queued", reason="Draining", failures=1)
    return job


def a_move_is_charged(forger: Forger) -> str:
    job, node = _running(forger)
    forger.status(job, 2, "Restarting", node, attempt=1, reason="Moving", failures=1)
    return job


def a_suspension_is_charged_later(forger: Forger) -> str:
    job, node = _running(forger)
    leave(forger, job, node, 1, "Suspended", "Suspended")
    forger.status(job, 1, "", phase="Queued", failures=1)
    return job


def a_number_is_used_again(forger: Forger) -> str:
    job, node = _running(forger)
    leave(forger, job, node, 1, "Queued", "Queued")
    run(forger, job, node, 2, 0)
    return job


def a_number_is_left_out(forger: Forger) -> str:
    job, node = _running(forger)
    leave(forger, job, node, 1, "Queued", "Queued")
    run(forger, job, node, 2, 2)
    return job


def a_step_falls(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "", checkpoint={"step": 8})
    forger.status(job, 1, "", checkpoint={"step": 7})
    return job


def a_step_is_forgotten(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "", checkpoint={"step": 8})
    forger.status(job, 1, "", checkpoint=None)
    return job


def a_success_runs_again(forger: Forger) -> str:
    job, node = _running(forger)
    forger.end_pod(forger.pod(job, node))
    return forger.pod(job, node, attempt=1)


def a_success_is_suspended(forger: Forger) -> str:
    job, node = _running(forger)
    forger.end_pod(forger.pod(job, node))
    leave(forger, job, node, 1, "Suspended", "Suspended")
    return job


def active_seconds_fall(forger: Forger) -> str:
    job, node = _running(forger)
    forger.status(job, 1, "Running", node, activeSeconds=9)
    leave(forger, job, node, 1, "Queued", "Queued", activeSeconds=8)
    return job


def the_clock_runs_in_the_queue(forger: Forger) -> str:
    job, node = _running(forger)
    forger.status(job, 1, "Releasing", node, outcome="Queued", phase="Releasing")
    forger.status(job, 1, "", phase="Queued")
    return job


def a_drained_node_is_taken(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "Taking", forger.long_drained)
    return job


def a_job_moves_to_a_drained_node(forger: Forger) -> str:
    job, node = _running(forger)
    forger.status(job, 2, "Restarting", node, forger.long_drained, attempt=1)
    return job


def a_history_is_long(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "", attempts=99, history=_entries(*range(MOST_ENTRIES + 1)))
    return job


def a_history_is_large(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "", attempts=99, history=_entries(1, left="n" * MOST_BYTES))
    return job


def a_history_tells_twice(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "", attempts=99, history=_entries(1, 1))
    return job


BROKEN = {
    YieldsAreFree.name: [a_yield_is_charged, a_move_is_charged, a_suspension_is_charged_later, a_number_is_used_again,
                         a_number_is_left_out],
    StepNeverFalls.name: [a_step_falls, a_step_is_forgotten],
    SuccessIsFinal.name: [a_success_runs_again, a_success_is_suspended],
    ActiveTimeIsKept.name: [active_seconds_fall, the_clock_runs_in_the_queue],
    DrainedNodesStayFree.name: [a_drained_node_is_taken, a_job_moves_to_a_drained_node],
    HistoryIsShort.name: [a_history_is_long, a_history_is_large, a_history_tells_twice],
}
