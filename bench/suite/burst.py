# SPDX-License-Identifier: Apache-2.0
"""Bursts of jobs: the operator beside the floor, on one control plane, in turn."""

import contextlib
import time
from typing import Any, Iterator, Sequence

from bench.suite.plane import POOL, Plane
from bench.suite.programs import Service, call
from bench.suite.results import Results
from tests.kit.api import Object

LIMIT = 3600  # seconds
EVENTS = ("create events", "patch events")


def submit(plane: Plane, services: Sequence[Service], pool: str, jobs: int, *arguments: Any) -> Object:
    """One-GPU jobs in a namespace of their own; what bench_burst says of them."""
    return call("bench_burst", "--kubeconfig", plane.kubeconfig, "--namespace", plane.namespace(), "--pool", pool,
                "--jobs", jobs, "--limit", LIMIT, *arguments, beside=services, limit=LIMIT + 60)


def _seconds(output: Object, name: str) -> Any:
    return next(entry["value"] for entry in output["results"] if entry["name"] == name)


def count_requests(results: Results, benchmark: str, plane: Plane, agent: str, jobs: int, entries: Any = None) -> None:
    """Requests for each job, told apart by what they are for. entries: of the audit log; None: those since begin()."""
    writes, reads, conflicts, seconds = plane.audit.counts(agent, entries)
    events = sum(writes.pop(name, 0) for name in EVENTS)
    pool = sum(writes.pop(name, 0) for name in ("patch gpupools", "update gpupools/status"))
    results.add(benchmark, "API writes a job", sum(writes.values()) / jobs, "writes")
    for name, count in sorted(writes.items()):
        results.add(benchmark, f"  {name}", count / jobs, "writes")
    results.add(benchmark, "  of them conflicts", sum(conflicts.values()) / jobs, "writes")
    results.add(benchmark, "Events a job", events / jobs, "writes")
    results.add(benchmark, "writes of the pool's status", pool, "writes")
    results.add(benchmark, "API reads a job", sum(reads.values()) / jobs, "reads")
    for name, count in sorted(reads.items()):
        results.add(benchmark, f"  {name}", count / jobs, "reads")
    results.add(benchmark, "time in the API server a job", sum(seconds.values()) / jobs * 1e3, "ms")
    for name, spent in sorted(seconds.items()):
        if writes[name] + reads[name]:
            results.add(benchmark, f"  each {name}", spent / (writes[name] + reads[name]) * 1e3, "ms")


def warm_up(plane: Plane) -> None:
    """Caches of the servers, connections, and the memory that they take first."""
    plane.need_nodes(20)
    with plane.player(0) as player:
        for subject in (plane.floor, plane.operator):
            with subject() as service:
                submit(plane, [service, player], POOL, 100)


def bursts(results: Results, plane: Plane, jobs: int, nodes: int, runs: int) -> None:
    """From the first submission to the last job that has ended and given back its node."""
    plane.need_nodes(nodes)
    benchmark = f"burst of {jobs} on {plane.nodes} nodes"
    with plane.player(0) as player:
        for _ in range(runs):
            with plane.floor() as bare:
                plane.audit.begin()
                floor = submit(plane, [bare, player], POOL, jobs)
                count_requests(results, benchmark + ", floor", plane, "bench-floor", jobs)
            with plane.operator() as operator:
                plane.audit.begin()
                cpu = operator.cpu_seconds()
                ours = submit(plane, [operator, player], POOL, jobs)
                results.add(benchmark, "operator CPU a job", (operator.cpu_seconds() - cpu) / jobs * 1e3, "ms")
                results.add(benchmark, "operator memory at most", operator.memory_mib("VmHWM"), "MiB")
                count_requests(results, benchmark, plane, operator.agent, jobs)
            for subject, output in (("operator", ours), ("floor", floor)):
                for entry in output["results"]:
                    if " to " in entry["name"] or "cores" in entry["name"]:
                        results.take(benchmark, {"results": [{**entry, "name": f"{entry['name']}: {subject}"}]})
            for name in ("all jobs", "all jobs gone"):
                results.add(benchmark, f"{name}: operator", _seconds(ours, name), "s")
                results.add(benchmark, f"{name}: floor", _seconds(floor, name), "s")
                results.add(benchmark, f"{name}: operator / floor", _seconds(ours, name) / _seconds(floor, name), "x")


def plain(results: Results, plane: Plane, jobs: int, nodes: int, runs: int) -> None:
    """The same jobs as plain Jobs, by the floor and by the operator, in turn: what each costs the servers until all are
    done."""
    plane.need_nodes(nodes)
    benchmark = f"{jobs} jobs on {plane.nodes} nodes beside plain Jobs"
    with plane.player(200) as player:
        for _ in range(runs):
            spans, server = {}, {}
            for subject in ("plain Jobs", "floor", "operator"):
                namespace = plane.namespace()
                with _subject(plane, subject) as service:
                    services = [player, *([service] if service else [])]
                    before, own = plane.cpu_of_servers(), service.cpu_seconds() if service else 0.0
                    common = ("--kubeconfig", plane.kubeconfig, "--namespace", namespace, "--jobs", jobs, "--limit", LIMIT)
                    output = call("bench_burst", *common, "--pool", POOL, "--end", "done", beside=services,
                                  limit=LIMIT + 60) if service else call("bench_plain", *common, beside=services,
                                                                         limit=LIMIT + 60)
                    used = {part: seconds - before[part] for part, seconds in plane.cpu_of_servers().items()}
                    spans[subject], server[subject] = _seconds(output, "all jobs"), used["apiserver"]
                    results.add(benchmark, f"all jobs: {subject}", spans[subject], "s")
                    for part in ("apiserver", "controller-manager", "etcd"):
                        results.add(benchmark, f"CPU of {part} a job: {subject}", used[part] / jobs * 1e3, "ms")
                    if service:
                        results.add(benchmark, f"own CPU a job: {subject}", (service.cpu_seconds() - own) / jobs * 1e3, "ms")
                    plane.drop_namespace(namespace)
            for subject in ("floor", "operator"):
                results.add(benchmark, f"all jobs: {subject} / plain Jobs", spans[subject] / spans["plain Jobs"], "x")
                results.add(benchmark, f"CPU of apiserver: {subject} / plain Jobs",
                            server[subject] / server["plain Jobs"], "x")


@contextlib.contextmanager
def _subject(plane: Plane, subject: str) -> Iterator[Any]:
    """None for plain Jobs."""
    if subject == "plain Jobs":
        yield None
        return
    with (plane.floor() if subject == "floor" else plane.operator()) as service:
        yield service


def steady(results: Results, plane: Plane, nodes: int, seconds: float) -> None:
    """What the operator asks the API server for while nothing changes, its watches aside: without jobs, and with one
    that runs on each node."""
    plane.need_nodes(nodes)
    with plane.operator() as operator, plane.player(-1) as player:
        for benchmark, jobs in (("steady state", 0), ("steady state, a job on each node", nodes)):
            if jobs:
                submit(plane, [operator, player], POOL, jobs, "--end", "stay")
            time.sleep(2)  # it is ready, and has written what it had to
            plane.audit.begin()
            cpu = operator.cpu_seconds()
            time.sleep(seconds)
            writes, reads, *_ = plane.audit.counts(operator.agent)
            results.add(benchmark, "API reads a minute", sum(reads.values()) * 60 / seconds, "reads")
            results.add(benchmark, "API writes a minute", sum(writes.values()) * 60 / seconds, "writes")
            results.add(benchmark, "CPU", (operator.cpu_seconds() - cpu) / seconds * 1e3, "mCPU")
        plane.drop_jobs()


def teardown(results: Results, plane: Plane, jobs: int, nodes: int, runs: int) -> None:
    """All of so many running jobs are deleted at once."""
    plane.need_nodes(nodes)
    with plane.player(-1) as player:
        for _ in range(runs):
            spans = {}
            for name, subject in (("floor", plane.floor), ("operator", plane.operator)):
                with subject() as service:
                    plane.audit.begin()
                    output = submit(plane, [service, player], POOL, jobs, "--end", "delete")
                    count_requests(results, f"teardown of {jobs} jobs: {name}", plane, service.agent, jobs)
                spans[name] = _seconds(output, "all nodes free")
                results.take(f"teardown of {jobs} jobs: {name}", output)
            results.add(f"teardown of {jobs} jobs: operator", "all nodes free: operator / floor",
                        spans["operator"] / spans["floor"], "x")
