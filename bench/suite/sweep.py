# SPDX-License-Identifier: Apache-2.0
"""Sweeps: how fast trials begin, beside a client that creates as many jobs, and what a trial costs beyond its job."""

import concurrent.futures
import time
from typing import Any, Callable

from bench.suite.plane import POOL, Plane
from bench.suite.programs import within
from bench.suite.results import Results
from tests.kit.api import Api
from tests.kit.manifests import job_manifest, sweep_manifest

THREADS = 4  # as many requests at once as the operator makes for a sweep
LIMIT = 1800  # seconds
OWN = ("create gpujobs", "update gpusweeps/status", "delete gpujobs")  # of the sweep, and not of its jobs


def measure(results: Results, plane: Plane, trials: int, nodes: int, runs: int) -> None:
    """All trials may begin at once. The operator runs in both cases, and handles the jobs as they come."""
    plane.need_nodes(nodes)
    benchmark = f"sweep of {trials} trials on {plane.nodes} nodes"
    for _ in range(runs):
        with plane.operator() as operator, plane.player(0):
            floor = _client(plane, trials)
            plane.audit.begin()
            namespace, began = plane.namespace(), time.monotonic()
            plane.api.create("gpusweeps", sweep_manifest(
                "s", namespace, POOL, [{"name": "x", "integers": {"min": 1, "max": trials}}], parallel=trials))
            _wait(lambda: _jobs_in(plane.api, namespace) == trials)
            ours = time.monotonic() - began
            _wait(lambda: plane.api.get("gpusweeps", "s", namespace).get("status", {}).get("completionTime"))
            results.add(benchmark, "until all ended", time.monotonic() - began, "s")
            writes, reads, *_ = plane.audit.counts(operator.agent)
            plane.drop_namespace(namespace)
        results.add(benchmark, "all jobs created: operator", ours, "s")
        results.add(benchmark, "all jobs created: client", floor, "s")
        results.add(benchmark, "all jobs created: operator / client", ours / floor, "x")
        results.add(benchmark, "API writes a trial beyond its job's", sum(writes[each] for each in OWN) / trials, "writes")
        results.add(benchmark, "  update gpusweeps/status", writes["update gpusweeps/status"] / trials, "writes")
        results.add(benchmark, "  get gpusweeps", reads["get gpusweeps"] / trials, "reads")


def _client(plane: Plane, jobs: int) -> float:
    """Seconds until a client has created so many jobs; they end, and are deleted."""
    namespace = plane.namespace()
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(lambda i: plane.api.create("gpujobs", job_manifest(f"j{i}", namespace, POOL)), range(jobs)))
    seconds = time.monotonic() - began
    _wait(lambda: all(job.get("status", {}).get("completionTime") for job in plane.api.list("gpujobs", namespace)), 1)
    plane.drop_namespace(namespace)
    return seconds


def _jobs_in(api: Api, namespace: str) -> int:
    """Counts without reading them all."""
    answer = api.call("GET", api.url("gpujobs", namespace, limit=1))
    return len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0)


def _wait(probe: Callable[[], Any], pause: float = 0.05) -> None:
    end = time.monotonic() + within(LIMIT)
    while not probe():
        if time.monotonic() > end:
            raise RuntimeError("the sweep or its jobs take too long")
        time.sleep(pause)
