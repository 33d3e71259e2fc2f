# SPDX-License-Identifier: Apache-2.0
"""Scenarios of jobs. The result of each must be the same whatever happens to the operator meanwhile."""

import signal
from typing import Any, Callable

from tests.faults.world import World
from tests.kit.jobs import JobHandle
from tests.kit.manifests import PRICE_ON_DEMAND, RESULTS, SOURCE, job_manifest
from tests.kit.played import transfers
from tests.kit.played.launchers import PlayedLaunchers


def _all_ranks(world: World, job: JobHandle, gpus: int, **which: Any) -> None:
    for rank in range(gpus):
        world.finish(job, rank=rank, **which)


def succeeds(world: World, gpus: int) -> Any:
    """Its bid moves the price of its pool, and is never below it."""
    job = world.submit(gpus, maxPricePerGpuHour=PRICE_ON_DEMAND["demand"]["ceiling"])
    world.running(job)
    _all_ranks(world, job, gpus)
    return world.over(job)


def deleted_while_it_runs(world: World, gpus: int) -> str:
    job = world.submit(gpus)
    world.running(job)
    world.remove(job)
    return "gone"


def fails_and_is_tried_again(world: World, gpus: int) -> Any:
    job = world.submit(gpus, backoffLimit=1)
    world.finish(job, code=9, rank=gpus - 1)
    world.running(job, attempt=1)
    _all_ranks(world, job, gpus, attempt=1)
    return world.over(job)


def fails_for_good(world: World, gpus: int) -> Any:
    job = world.submit(gpus, backoffLimit=0)
    world.finish(job, code=9)
    return world.over(job)


def loses_a_node(world: World, gpus: int) -> Any:
    job = world.submit(gpus)
    world.running(job)
    victim = job.nodes()[-1]
    world.kubelet.dead.add(victim)
    world.nodes.set_ready(victim, "Unknown")
    world.running(job, attempt=1)
    assert victim not in job.nodes(), f"{job.name} runs on the lost node {victim}"
    world.kubelet.dead.discard(victim)
    world.nodes.set_ready(victim, "True")
    _all_ranks(world, job, gpus, attempt=1)
    return world.over(job)


def suspended_and_resumed(world: World, gpus: int) -> Any:
    job = world.submit(gpus)
    world.running(job)
    job.patch(suspend=True)
    world.until(job, "to give its nodes back", lambda s: s.get("phase") == "Suspended" and not s.get("lease"))
    job.patch(suspend=False)
    attempt = world.until(job, "to run again", lambda s: s.get("phase") == "Running" and s["attempts"]) - 1
    _all_ranks(world, job, gpus, attempt=attempt)
    return world.over(job)


def drained(world: World, gpus: int) -> Any:
    job = world.submit(gpus, checkpoint={})
    world.running(job)
    victim = job.nodes()[-1]
    world.nodes.drain(victim)
    world.running(job, attempt=1)
    assert victim not in job.nodes(), f"{job.name} runs on the drained node {victim}"
    world.nodes.end_drain(victim)
    _all_ranks(world, job, gpus, attempt=1)
    return world.over_with_history(job)


def drain_taken_back(world: World, gpus: int) -> Any:
    """When it is too late: the workers have been told to stop."""
    job = world.submit(gpus, checkpoint={})
    world.running(job)
    victim = job.nodes()[-1]
    world.nodes.drain(victim)
    world.until(job, "to leave", lambda s: s.get("phase") == "Restarting" or s.get("attempts", 0) > 1)
    world.nodes.end_drain(victim)
    world.running(job, attempt=1)
    _all_ranks(world, job, gpus, attempt=1)
    return world.over_with_history(job)


def drained_to_the_queue(world: World, gpus: int) -> Any:
    """No other node is free: a drain without a deadline changes nothing, and is taken back."""
    job = world.submit(gpus, checkpoint={})
    world.running(job)
    victim = job.nodes()[-1]
    world.nodes.drain(victim)
    world.until(job, "to know of the drain", lambda s: s.get("reason") == "Draining")
    world.nodes.end_drain(victim)
    world.until(job, "to run on", lambda s: s.get("reason") == "WorkersRunning")
    world.nodes.drain(victim, "2020-01-01T00:00:00Z")
    status = world.until(job, "to wait in the queue", lambda s: s.get("phase") == "Queued" and not s.get("lease") and s)
    world.nodes.end_drain(victim)
    assert "startTime" not in status, f"the clock of {job.name} runs in the queue"
    world.running(job, attempt=1)
    _all_ranks(world, job, gpus, attempt=1)
    return world.over_with_history(job)


def restart_asked(world: World, gpus: int) -> Any:
    """On the same nodes."""
    job = world.submit(gpus, checkpoint={})
    world.running(job)
    nodes = job.nodes()
    job.ask_restart("once")
    world.running(job, attempt=1)
    assert job.nodes() == nodes, f"{job.name} was on {nodes} and is on {job.nodes()}"
    _all_ranks(world, job, gpus, attempt=1)
    return world.over_with_history(job)


def told_to_stop(world: World, gpus: int) -> Any:
    """By something on its machine, as when the node is shut down. The other ranks are told by gpupool."""
    job = world.submit(gpus, checkpoint={})
    world.running(job)
    world.finish(job, stop_signal=signal.SIGTERM)
    world.running(job, attempt=1)
    _all_ranks(world, job, gpus, attempt=1)
    return world.over_with_history(job)


def its_pool_is_deleted(world: World, gpus: int) -> Any:
    pool = world.name + "-extra"
    nodes = [f"{pool}-n{i}" for i in range(gpus)]
    world.add_pool(pool, nodes)
    job = world.submit(gpus, pool=pool)
    world.running(job)
    world.api.delete("gpupools", pool)
    assert world.api.find("gpupools", pool), "the pool did not wait for its job"
    _all_ranks(world, job, gpus)
    result = world.over(job)
    world.remove_pool(pool, nodes)
    return result


def waits_behind_another(world: World, gpus: int) -> Any:
    """Two jobs want what only one can have; both run, one after the other."""
    return _one_after_the_other(world, [world.submit(gpus) for _ in range(2)], gpus)


def makes_room(world: World, gpus: int) -> Any:
    """A tenant gets the nodes that are guaranteed to it back from a borrower, which goes on later."""
    pool, nodes = _pool_of_tenants(world, gpus, {"guaranteed": gpus}, {"minRunSeconds": 0})
    borrower = world.submit(gpus, pool, checkpoint={})
    world.running(borrower)
    firm = world.submit(gpus, pool, namespace=world.other_namespace)
    results = [_made_room(world, borrower, firm, gpus), world.over_with_history(borrower)]
    world.remove_pool(pool, nodes)
    return results


def makes_room_for_a_share(world: World, gpus: int) -> Any:
    """One of two jobs of a tenant that has all nodes."""
    rules = {"toShare": True, "shareMinRunSeconds": 0, "patienceSeconds": 0, "marginPercent": 0}
    pool, nodes = _pool_of_tenants(world, 2 * gpus, {"weight": 2}, rules)
    borrowers = [world.submit(gpus, pool, checkpoint={}) for _ in range(2)]
    for job in borrowers:
        world.running(job)
    firm = world.submit(gpus, pool, namespace=world.other_namespace)
    borrower = world.wait("a job to make room", lambda: next((job for job in borrowers if job.status().get("yields")), None))
    borrowers.remove(borrower)
    results = [_made_room(world, borrower, firm, gpus), world.over_with_history(borrower)]
    _all_ranks(world, borrowers[0], gpus)
    results.append(world.over(borrowers[0]))
    world.remove_pool(pool, nodes)
    return results


def _pool_of_tenants(world: World, count: int, firm: Any, rules: Any) -> tuple[str, list[str]]:
    """(its name, its nodes), of so many GPUs. A tenant, which is like this, has the other namespace; rules: who yields."""
    pool = world.name + "-extra"
    nodes = [f"{pool}-n{i}" for i in range(count)]
    tenant = {"name": "firm", "namespaces": [world.other_namespace], **firm}
    world.add_pool(pool, nodes, queue={"tenants": [tenant], "yield": rules})
    return pool, nodes


def _made_room(world: World, borrower: JobHandle, firm: JobHandle, gpus: int) -> Any:
    """How the job ends for which the borrower made room, which then ends too; and how often it did."""
    world.running(firm)
    status = world.until(borrower, "to wait", lambda s: s.get("phase") == "Queued" and not s.get("lease") and s)
    assert "startTime" not in status, f"the clock of {borrower.name} runs in the queue"
    _all_ranks(world, firm, gpus)
    result = world.over(firm)
    world.running(borrower, attempt=1)
    yields = borrower.status()["yields"]
    _all_ranks(world, borrower, gpus, attempt=1)
    return result, yields


def share_a_gpu(world: World, gpus: int) -> Any:
    """Three jobs want half of a GPU each; two run at once and the third after them."""
    pool, node = world.name + "-shared", world.name + "-shared-n0"
    world.add_shared_pool(pool, node)
    results = _one_after_the_other(world, [world.submit(gpus, pool, slice={"count": 5}) for _ in range(3)], gpus)
    over = {gpu: slices for gpu, slices in world.kubelet.plugins.peak.items() if slices > 10}
    assert not over, f"more slices in use than there are: {over}"
    world.remove_pool(pool, [node])
    return results


def rent_single_gpus(world: World, gpus: int) -> Any:
    """Three jobs want a GPU each of a node that has two; two run at once and the third after them."""
    pool, node = world.name + "-shared", world.name + "-shared-n0"
    world.add_gpu_pool(pool, node, 2)
    results = _one_after_the_other(world, [world.submit(gpus, pool) for _ in range(3)], gpus)
    world.remove_pool(pool, [node])
    return results


def fetches_and_saves(world: World, gpus: int) -> Any:
    """Both attempts fetch the source and save results: one rank crashes in the first."""
    job = world.submit(gpus, backoffLimit=1, source=SOURCE, results=RESULTS)
    world.finish(job, code=9, rank=gpus - 1)
    world.running(job, attempt=1)
    _all_ranks(world, job, gpus, attempt=1)
    status = world.until(job, "to end", lambda s: s.get("phase") in ("Succeeded", "Failed") and s)
    told = [(part["state"], part["attempt"]) for part in (status["source"], status["results"])]
    return world.over(job), told


def source_comes_late(world: World, gpus: int) -> Any:
    """A fetch that is killed, a server that is away, and a job that is suspended while it fetches."""
    away = transfers.in_turn(transfers.killed, transfers.fails("SourceUnavailable"))
    plan = transfers.by_attempt(away, transfers.never)
    job = world.submit(gpus, source=SOURCE, source_plan=plan)
    world.until(job, "to fetch again", lambda s: s.get("failures") == 1 and "the source is being fetched" in s.get("message", ""))
    job.patch(suspend=True)
    world.until(job, "to give its nodes back", lambda s: s.get("phase") == "Suspended" and not s.get("lease"))
    world.fetch_well(job)
    job.patch(suspend=False)
    attempt = world.until(job, "to run", lambda s: s.get("phase") == "Running" and s["attempts"]) - 1
    _all_ranks(world, job, gpus, attempt=attempt)
    return world.over(job)


def source_is_denied(world: World, gpus: int) -> Any:
    job = world.submit(gpus, source=SOURCE, results=RESULTS, source_plan=transfers.fails("SourceDenied"))
    result = world.over(job)
    world.fetch_well(job)
    return result


def _runs(job: JobHandle) -> bool:
    return job.exists() and job.phase() == "Running"


def sweeps_over_trials(world: World, gpus: int) -> Any:
    """Three trials, at most two at once, of which one crashes and one is stopped early; the jobs of those that end go."""
    with PlayedLaunchers() as launchers:
        world.kubelet.address = launchers.address
        sweep = world.submit_sweep(3, parallel=2, objective={"metric": "loss", "goal": "Minimize"}, keepJobs="None",
                                   stopping={"asha": {"max": 9, "eta": 2}},
                                   job=job_manifest("", "", world.name, gpus=gpus, backoffLimit=0)["spec"])
        world.finish(sweep.trial(1), code=9)
        for trial in (0, 2):
            job = sweep.trial(trial)
            world.wait(f"trial {trial} to begin", job.exists)
            world.running(job)
            launchers.tell(job.read()["metadata"]["uid"], "loss", f"{trial}.5")
        world.wait("trial 2 to be stopped", lambda: "2 X 2.5 2.5" in sweep.status().get("results", []))
        world.finish(sweep.trial(0), metrics=["loss 0.5 1 0.5 1 0.5 1 1 0"])
        status = world.wait(f"{sweep.name} to end", lambda: sweep.status().get("completionTime") and sweep.status())
        world.wait(f"the jobs of {sweep.name} to be gone", lambda: not sweep.jobs())
    world.api.delete("gpusweeps", sweep.name, world.name)
    world.wait(f"nothing to be left of {sweep.name}", lambda: not world.left_of())
    # Without the values at rungs: an operator that begins when a trial has ended cannot ask it any more.
    results = [" ".join(text.split()[:3]) for text in status["results"]]
    return status["phase"], status["reason"], results, status["best"]["trial"]


def _one_after_the_other(world: World, jobs: list[JobHandle], gpus: int) -> Any:
    results = []
    while jobs:
        job = world.wait("a job to run", lambda: next((j for j in jobs if j.phase() == "Running"), None))
        _all_ranks(world, job, gpus)
        results.append(world.over(job))
        jobs.remove(job)
    return results


# (phase, reason, attempts, failures)
_AT_ONCE = ("Succeeded", "Completed", 1, 0)
_AT_THE_SECOND_TRY = ("Succeeded", "Completed", 2, 1)
_AGAIN_UNCHARGED = ("Succeeded", "Completed", 2, 0)


def _went_on(cause: str) -> Any:
    """With what the first attempt had saved. The second one saved more."""
    return *_AGAIN_UNCHARGED, 200, [(cause, 100)]


# life: {GPUs: what it ends with}
_LIVES: dict[Callable[[World, int], Any], dict[int, Any]] = {
    succeeds: {1: _AT_ONCE, 2: _AT_ONCE},
    deleted_while_it_runs: {1: "gone", 2: "gone"},
    fails_and_is_tried_again: {1: _AT_THE_SECOND_TRY, 2: _AT_THE_SECOND_TRY},
    fails_for_good: {2: ("Failed", "BackoffLimitExceeded", 1, 1)},
    loses_a_node: {1: _AGAIN_UNCHARGED, 2: _AGAIN_UNCHARGED},
    suspended_and_resumed: {1: _AGAIN_UNCHARGED, 2: _AGAIN_UNCHARGED},
    drained: {1: _went_on("Draining"), 2: _went_on("Draining")},
    drain_taken_back: {2: _went_on("Draining")},
    drained_to_the_queue: {3: _went_on("Draining")},
    restart_asked: {2: _went_on("Moving")},
    told_to_stop: {2: _went_on("Yielded")},
    its_pool_is_deleted: {1: _AT_ONCE},
    waits_behind_another: {3: [_AT_ONCE] * 2},
    makes_room: {2: [(_AT_ONCE, 1), _went_on("Yielded")]},
    makes_room_for_a_share: {1: [(_AT_ONCE, 1), _went_on("Yielded"), _AT_ONCE]},
    share_a_gpu: {1: [_AT_ONCE] * 3},
    rent_single_gpus: {1: [_AT_ONCE] * 3},
    fetches_and_saves: {gpus: (_AT_THE_SECOND_TRY, [("Fetched", 1), ("Complete", 1)]) for gpus in (1, 2)},
    source_comes_late: {2: ("Succeeded", "Completed", 3, 1)},
    source_is_denied: {1: ("Failed", "SourceDenied", 1, 0)},
    sweeps_over_trials: {1: ("Succeeded", "Completed", ["0 S 0.5", "1 F", "2 X 2.5"], 0)},
}


class Scenario:
    def __init__(self, life: Callable[[World, int], Any], gpus: int, expected: Any) -> None:
        self.name, self._life, self._gpus, self.expected = f"{life.__name__}-{gpus}", life, gpus, expected

    def run(self, world: World) -> Any:
        return self._life(world, self._gpus)


SCENARIOS = {s.name: s for life, ends in _LIVES.items() for s in [Scenario(life, g, e) for g, e in ends.items()]}
