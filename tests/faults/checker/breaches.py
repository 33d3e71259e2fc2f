# SPDX-License-Identifier: Apache-2.0
"""A job that keeps every rule of the checker, and breaches of each rule."""

from tests.faults.checker import end_rules
from tests.faults.checker.data_rules import ResultsBeforeEnd, SourceBeforeWorker
from tests.faults.checker.forger import FETCHED, NOBODY, Forger, ended
from tests.faults.checker.lease_rules import EditsMoveNothing, TakingMoves, ValueNamesOneThing
from tests.faults.checker.node_rules import (HeldNodeCarriesLease, MarksNameHolder, NodeControllerUndone,
                                             OneLeasePerNode, PodOnHeldNode)
from tests.faults.checker.outcome_rules import EndsAsItShould, RunsOnce
from tests.faults.checker.records import EXPECTED, KEEPS_NODES
from tests.faults.checker.slice_rules import GpuNotOversubscribed
from tests.kit.names import POOL_TAINT
from tests.kit.played.worker_result import exited


def lawful(forger: Forger) -> None:
    """The life of a job as it should be, beside a node controller that writes what it has in its cache. What waits for a
    leader waits for as long as nobody leads."""
    a, b, gone = forger.node(), forger.node(), forger.node()
    forger.api.delete("gpujobs", forger.hold(gone), forger.space)
    taking = forger.job()
    forger.status(taking, 1, "Taking", gone)
    job = forger.hold(a, b, **{EXPECTED: "Succeeded/Completed/0"})
    forger.undo(a)
    forger.pause()
    forger.take_turns()
    forger.unmark(gone)
    forger.api.delete("gpujobs", taking, forger.space)
    forger.mark(a, job)
    pod, idle = forger.pod(job, a), forger.pod(job, b, running=False)
    forger.status(job, 1, "Running", a, b)
    forger.pod_state(pod, "Succeeded", {"terminated": {"exitCode": 0}})
    forger.status(job, 1, "Releasing", a, b, outcome="Succeeded")
    forger.leave(idle)
    forger.unmark(a)
    forger.unmark(b)
    forger.undo(b, f"{forger.uid(job)}.1")
    forger.unmark(b)
    done = {"type": "Complete", "status": "True", "reason": "Completed", "message": "all is well"}
    forger.status(job, 1, "", phase="Succeeded", reason="Completed", message="all is well", conditions=[done])


def lawful_data(forger: Forger) -> None:
    """Sources that are fetched, and results that are put away, or that nobody waits for."""
    node, runs = forger.node(), {"running": {}}
    job = forger.hold(node)
    forger.status(job, 1, "Running", node)
    pod = forger.data_pod(job, node)
    forger.data_state(pod, runs, {"waiting": {}}, {"waiting": {}}, "Pending")
    forger.data_state(pod, FETCHED, runs, runs)
    forger.data_state(pod, FETCHED, ended(0, exited(0, 0, 0)), runs)
    forger.data_state(pod, FETCHED, ended(0, exited(0, 0, 0)), FETCHED)
    forger.status(job, 1, "Releasing", node, outcome="Succeeded")
    forger.clear(job, node, pod)
    for outcome in ("Suspended", "Failed"):  # the deadline of a job is not charged
        job, node, pod = forger.saving_job(0)
        forger.status(job, 1, "Releasing", node, outcome=outcome)
        forger.clear(job, node, pod)


def a_worker_begins_before_its_source(forger: Forger) -> str:
    node = forger.node()
    pod = forger.data_pod(forger.hold(node), node)
    forger.data_state(pod, {"running": {}}, {"running": {}}, {"running": {}})
    return pod


def a_worker_begins_without_its_source(forger: Forger) -> str:
    node = forger.node()
    pod = forger.data_pod(forger.hold(node), node)
    forger.data_state(pod, ended(1, '{"version":1}'), {"running": {}}, {"running": {}})
    return pod


def a_success_ends_before_its_results(forger: Forger) -> str:
    job, node, _ = forger.saving_job(0)
    forger.status(job, 1, "Releasing", node, outcome="Succeeded")
    return job


def a_crash_ends_before_its_results(forger: Forger) -> str:
    job, node, _ = forger.saving_job(3)
    forger.status(job, 2, "Restarting", node, attempt=1, failures=1)
    return job


def two_jobs_have_a_node(forger: Forger) -> str:
    node = forger.node()
    forger.hold(node)
    forger.status(forger.job(), 1, "Held", node)
    return node


def a_held_node_carries_nothing(forger: Forger) -> str:
    node = forger.node()
    forger.hold(node)
    forger.unmark(node)
    return node


def a_taint_names_nobody(forger: Forger) -> str:
    node = forger.node()
    forger.mark(node, "nobody")
    return node


def a_taint_outlives_the_lease(forger: Forger) -> str:
    node = forger.node()
    forger.status(forger.hold(node), 1, "")
    return node


def a_taint_outlives_a_job_that_vanished(forger: Forger) -> str:
    """Longer than the checker is patient with."""
    node = forger.node()
    job = forger.hold(node)
    forger.api.delete("gpujobs", job, forger.space)
    forger.wait_for_complaint(node)
    return node


def the_node_controller_takes_a_taint_off(forger: Forger) -> str:
    node = forger.node()
    forger.hold(node)
    forger.undo(node)
    forger.wait_for_complaint(node)
    return node


def the_node_controller_takes_a_taint_off_one_that_is_given_back(forger: Forger) -> str:
    node = forger.node()
    forger.status(forger.hold(node), 1, "Releasing", node)
    forger.undo(node)
    forger.wait_for_complaint(node)
    return node


def the_node_controller_takes_a_taint_off_one_that_runs(forger: Forger) -> str:
    """Nobody leads for a while, and then somebody does."""
    node = forger.node()
    forger.status(forger.hold(node), 1, "Running", node)
    forger.undo(node)
    forger.pause()
    forger.wait_for_complaint(node)
    return node


def the_node_controller_brings_a_taint_back(forger: Forger) -> str:
    node = forger.node()
    forger.undo(node, f"{NOBODY}.1")
    forger.wait_for_complaint(node)
    return node


def a_taint_of_no_pool(forger: Forger) -> str:
    node = forger.node()
    forger.mark(node, "nobody", key=POOL_TAINT)
    return node


def a_pod_on_a_foreign_node(forger: Forger) -> str:
    mine, others = forger.node(), forger.node()
    forger.hold(others)
    forger.pod(forger.hold(mine), others)
    return others


def a_pod_on_a_free_node(forger: Forger) -> str:
    mine, free = forger.node(), forger.node()
    forger.pod(forger.hold(mine), free)
    return free


def a_pod_that_runs_is_deleted_by_force(forger: Forger) -> str:
    """Its kubelet has not seen the end of it."""
    node = forger.node()
    forger.leave(forger.pod(forger.hold(node), node))
    forger.unmark(node)
    return node


def a_pod_that_may_begin_yet(forger: Forger) -> str:
    node = forger.node()
    forger.leave(forger.pod(forger.hold(node), node, running=False), grace=30)
    forger.unmark(node)
    return node


def too_many_slices_reserved(forger: Forger) -> str:
    node = forger.node()
    forger.gpus(node, 0, 0)  # three times six do not fit on two GPUs of ten, though they are fewer than twenty
    for workers in (1, 2):
        forger.status(forger.job(), 1, "Held", node, slices=6, workers=workers)
    return node


def too_many_gpus_reserved(forger: Forger) -> str:
    node = forger.node(gpus=2)
    for gpus in (1, 2):
        forger.status(forger.job(), 1, "Held", node, slices=gpus)
    return node


def too_many_slices_run(forger: Forger) -> str:
    node = forger.node()
    forger.gpus(node, 0)
    job = forger.job()
    forger.status(job, 1, "Held", node, slices=6)
    for _ in range(2):
        forger.pod(job, node, slices=6)
    return node


def too_many_slices_reported(forger: Forger) -> str:
    node = forger.node()
    forger.gpus(node, 11)
    return node


def a_value_moves(forger: Forger) -> str:
    node, job = forger.node(), forger.hold(forger.node())
    forger.status(job, 1, "Restarting", node)
    return forger.uid(job)


def a_value_counts_for_two_attempts(forger: Forger) -> str:
    node = forger.node()
    job = forger.hold(node)
    forger.status(job, 1, "Held", node, attempt=1)
    return forger.uid(job)


def a_number_falls(forger: Forger) -> str:
    node, job = forger.node(), forger.job()
    forger.status(job, 2, "Taking", node)
    forger.status(job, 1, "Releasing", node)
    return forger.uid(job)


def nobody_takes_on(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "Taking", forger.node())
    forger.wait_for_complaint(job)
    return job


def an_edit_moves_a_job(forger: Forger) -> str:
    first, second = forger.node(), forger.node()
    job = forger.hold(first, **{KEEPS_NODES: "yes"})
    forger.status(job, 1, "Running", first)
    forger.status(job, 2, "Restarting", second)
    return job


def an_edit_ends_a_job(forger: Forger) -> str:
    node = forger.node()
    job = forger.hold(node, **{KEEPS_NODES: "yes"})
    forger.status(job, 1, "Running", node)
    forger.status(job, 1, "Releasing", node, phase="Releasing", reason="SpecChanged", message="it was edited")
    return job


def a_rank_runs_twice(forger: Forger) -> str:
    node = forger.node()
    job = forger.hold(node)
    forger.pod(job, node)
    return forger.pod(job, node)


def a_success_fails(forger: Forger) -> str:
    job = forger.job(**{EXPECTED: "Succeeded/Completed"})
    done = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "no"}
    forger.status(job, 1, "", phase="Failed", reason="BackoffLimitExceeded", message="no", conditions=[done])
    return job


def an_innocent_is_charged(forger: Forger) -> str:
    job = forger.job(**{EXPECTED: "Succeeded/Completed/0"})
    done = {"type": "Complete", "status": "True", "reason": "Completed", "message": "yes"}
    forger.status(job, 1, "", phase="Succeeded", reason="Completed", message="yes", failures=1, conditions=[done])
    return job


def an_end_says_nothing(forger: Forger) -> str:
    job = forger.job()
    forger.status(job, 1, "", phase="Succeeded", reason="Completed")
    return job


def a_job_says_nothing(forger: Forger) -> str:
    return forger.job()


def a_finalizer_stays(forger: Forger) -> str:
    pod = forger.pod(forger.hold(forger.node()), forger.node(), running=False)
    forger.api.patch("pods", pod, {"metadata": {"finalizers": ["gpupool.dev/worker"]}}, forger.space)
    return pod


BROKEN = {
    OneLeasePerNode.name: [two_jobs_have_a_node],
    HeldNodeCarriesLease.name: [a_held_node_carries_nothing],
    MarksNameHolder.name: [a_taint_names_nobody, a_taint_outlives_the_lease, a_taint_of_no_pool,
                           a_taint_outlives_a_job_that_vanished],
    NodeControllerUndone.name: [the_node_controller_takes_a_taint_off,
                                the_node_controller_takes_a_taint_off_one_that_is_given_back,
                                the_node_controller_takes_a_taint_off_one_that_runs,
                                the_node_controller_brings_a_taint_back],
    PodOnHeldNode.name: [a_pod_on_a_foreign_node, a_pod_on_a_free_node, a_pod_that_runs_is_deleted_by_force,
                         a_pod_that_may_begin_yet],
    GpuNotOversubscribed.name: [too_many_slices_reserved, too_many_gpus_reserved, too_many_slices_run,
                                too_many_slices_reported],
    ValueNamesOneThing.name: [a_value_moves, a_value_counts_for_two_attempts, a_number_falls],
    TakingMoves.name: [nobody_takes_on],
    EditsMoveNothing.name: [an_edit_moves_a_job, an_edit_ends_a_job],
    RunsOnce.name: [a_rank_runs_twice],
    SourceBeforeWorker.name: [a_worker_begins_before_its_source, a_worker_begins_without_its_source],
    ResultsBeforeEnd.name: [a_success_ends_before_its_results, a_crash_ends_before_its_results],
    EndsAsItShould.name: [a_success_fails, an_innocent_is_charged, an_end_says_nothing],
    end_rules.EXPLAINED: [a_job_says_nothing],
    end_rules.NOTHING_LEFT: [a_finalizer_stays, a_taint_names_nobody],
}
