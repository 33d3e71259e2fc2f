# SPDX-License-Identifier: Apache-2.0
"""Latencies that users see, of the operator and of the floor: idle and during a burst."""

import statistics
import threading
from typing import Any, Iterator, Sequence

from bench.suite.burst import submit
from bench.suite.plane import PATIENCE, POOL, Plane
from bench.suite.programs import Service, call
from bench.suite.results import Results
from tests.kit.api import Object

LOSS = "node not ready to lease moved"


def _milliseconds(output: Object) -> Iterator[Any]:
    """Of the entries that are a time from one thing to another."""
    for entry in output["results"]:
        if " to " in entry["name"]:
            factor = 1e3 if entry["unit"] == "s" else 1
            yield {**{key: value * factor if isinstance(value, float) else value for key, value in entry.items()},
                   "unit": "ms"}


class Rows:
    def __init__(self, results: Results, benchmark: str) -> None:
        self._results, self._benchmark = results, benchmark
        self._medians = {}  # (name, subject) -> [ms]

    def take(self, subject: str, output: Object) -> None:
        for entry in _milliseconds(output):
            self._medians.setdefault((entry["name"], subject), []).append(entry["value"])
            self._results.take(self._benchmark, {"results": [{**entry, "name": f"{entry['name']}: {subject}"}]})

    def differences(self) -> None:
        for (name, subject), medians in self._medians.items():
            if subject == "operator":
                floor = statistics.median(self._medians[name, "floor"])
                self._results.add(self._benchmark, f"{name}: operator beyond the floor",
                                  statistics.median(medians) - floor, "ms")


def _subjects(plane: Plane) -> Iterator[Any]:
    """The operator waits for a pool's patience first, which is its promise and not its speed."""
    yield "floor", plane.floor("--watch-nodes", 1), 0
    yield "operator", plane.operator(), PATIENCE * 1000


def _losses(plane: Plane, services: Sequence[Service], jobs: int, lanes: int, patience: int) -> Any:
    return call("bench_loss", "--kubeconfig", plane.kubeconfig, "--namespace", plane.namespace(), "--pool", POOL,
                "--jobs", jobs, "--lanes", lanes, "--patience-ms", patience, beside=services)


def idle(results: Results, plane: Plane, jobs: int, losses: int, nodes: int, runs: int) -> None:
    """One job after the other, for an operator that has nothing else to do."""
    plane.need_nodes(nodes)
    rows = Rows(results, "latency, idle")
    for _ in range(runs):
        with plane.player(0) as player:
            for name, subject, patience in _subjects(plane):
                with subject as service:
                    rows.take(name, submit(plane, [service, player], POOL, jobs, "--threads", 1, "--gap-ms", 200))
                    rows.take(name, _losses(plane, [service, player], losses, 4, patience))
    rows.differences()


def busy(results: Results, plane: Plane, jobs: int, losses: int, nodes: int, runs: int) -> None:
    """While so many jobs come at once, again and again."""
    plane.need_nodes(nodes)
    rows = Rows(results, f"latency, bursts of {jobs} on {plane.nodes} nodes")
    for _ in range(runs):
        with plane.player(0) as player:
            for name, subject, patience in _subjects(plane):
                with subject as service:
                    _busy(plane, rows, name, [service, player], jobs, losses, patience)
    rows.differences()


def _busy(plane: Plane, rows: Rows, name: str, services: Sequence[Service], jobs: int, losses: int,
          patience: int) -> None:
    done, problems = threading.Event(), []

    def burst() -> None:
        try:
            while not done.is_set():
                rows.take(name, submit(plane, services, POOL, jobs))
        except RuntimeError as problem:
            problems.append(problem)
    thread = threading.Thread(target=burst)
    thread.start()
    try:
        rows.take(name, _losses(plane, services, losses, 8, patience))
    finally:
        done.set()
        thread.join()
    if problems:
        raise problems[0]
