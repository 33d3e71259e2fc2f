# SPDX-License-Identifier: Apache-2.0
"""Measures the operator with many nodes, jobs and workers: memory, start time, CPU of an event, CPU of a new list."""

import time
from typing import Any

from bench.suite.burst import submit
from bench.suite.growth import exponent
from bench.suite.plane import Operator, Plane
from bench.suite.programs import call, within
from bench.suite.results import Results
from tests.kit.api import Object
from tests.kit.names import POOL_LABEL
from tests.kit.played.plugins import FakePlugins

JOBS = 10  # for each node
KINDS = 8  # that the operator watches, apart from what it takes only some of
QUIET = 0.5  # seconds without work: all that was asked is done
SETTLE_LIMIT = 600


class Whole:
    """A pool that leases whole nodes: all are taken, and nine jobs of ten wait."""

    name, weight = "scale", "a tenth of a node and of a worker"
    end: list = ["wait"]

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def add_nodes(self, count: int) -> None:
        self._plane.in_use.add(self.name)
        self._plane.need_nodes(count, self.name)

    @staticmethod
    def player() -> list:
        return ["--threads", 16]


class Shared(Whole):
    """A pool whose nodes have ten slices each: every job runs."""

    name, weight = "sharing", "its worker and a tenth of a node"
    end: list = ["stay", "--slices", 1]

    def __init__(self, plane: Plane) -> None:
        super().__init__(plane)
        self._plugins = FakePlugins(plane.api)

    def add_nodes(self, count: int) -> None:
        before = self._plane.pools.get(self.name, 0)
        self._plane.in_use.add(self.name)
        self._plane.need_nodes(count, self.name, gpus=0, sharing={"deviceSplitCount": JOBS})
        self._plane.each(lambda index: self._plugins.add(f"{self.name}-{index:05}", split=JOBS), range(before, count))

    @staticmethod
    def player() -> list:
        return ["--shared", 1, "--threads", 16]


class Rows:
    """Results of each size, and how they grow."""

    def __init__(self, results: Results, pool: Whole, sizes: list[int]) -> None:
        self._results, self._pool, self._several = results, pool, len(sizes) > 1
        self._points = {}

    def add(self, size: int, what: str, value: float, unit: str, grows: bool = True) -> None:
        self._results.add(self._pool.name, f"{size // JOBS} nodes, {size} jobs: {what}", value, unit)
        if grows:
            self._points.setdefault(what, []).append((size, value))

    def exponents(self) -> None:
        for what, points in self._points.items():
            found = exponent(points) if self._several else None
            if found is not None:
                self._results.add(self._pool.name, f"exponent: {what}", found, "")


def _settled_cpu(operator: Operator) -> Any:
    """Seconds, once it has nothing to do."""
    end = time.monotonic() + within(SETTLE_LIMIT)
    cpu, since = operator.cpu_seconds(), time.monotonic()
    while time.monotonic() - since < QUIET:
        time.sleep(0.1)
        now = operator.cpu_seconds()
        if now - cpu > 0.011:  # a tick now and then is no work
            cpu, since = now, time.monotonic()
        if time.monotonic() > end or not operator.running():
            raise RuntimeError("the operator does not come to rest\n" + operator.log()[-2000:])
    return operator.cpu_seconds()


def _add_jobs(plane: Plane, pool: Whole, rows: Rows, size: int, count: int) -> None:
    """Each with all that it gets."""
    with plane.player(-1, *pool.player()) as player, plane.operator() as operator:
        cpu = _settled_cpu(operator)
        submit(plane, [operator, player], pool.name, count, "--end", *pool.end)
        rows.add(size, "CPU of a new job", (_settled_cpu(operator) - cpu) / count * 1e3, "ms")


def _start(operator: Operator, pool: Whole, rows: Rows, size: int, base: float) -> None:
    """As after an upgrade: nothing is left to write."""
    rows.add(size, "start to ready", operator.ready_after, "s")
    rows.add(size, "CPU until nothing is left to do", _settled_cpu(operator), "s")
    memory = operator.memory_mib()
    rows.add(size, "memory", memory, "MiB", grows=False)
    rows.add(size, "memory beyond an empty one's", memory - base, "MiB")
    rows.add(size, f"bytes a job, with {pool.weight}", (memory - base) * (1 << 20) / size, "bytes", grows=False)
    rows.add(size, "memory at most, since the start", operator.memory_mib("VmHWM"), "MiB", grows=False)


def _start_floor(plane: Plane, operator_s: float, rows: Rows, size: int) -> None:
    """The same lists, read by a client that keeps nothing."""
    floor = {entry["name"]: entry["value"] for entry in
             call("bench_lists", "--kubeconfig", plane.kubeconfig)["results"]}
    rows.add(size, "lists, floor", floor["seconds"], "s")
    rows.add(size, "lists", floor["bytes"] / (1 << 20), "MiB", grows=False)
    rows.add(size, "start to ready: operator / floor", operator_s / floor["seconds"], "x", grows=False)


def _events(plane: Plane, operator: Operator, pool: Whole, rows: Rows, size: int, count: int) -> None:
    """Changes that mean nothing, of all nodes and pods in turn."""
    for kind in ("nodes", "pods"):
        query = {"labelSelector": f"{POOL_LABEL}={pool.name}"} if kind == "nodes" else {}
        objects = plane.api.list(kind, resourceVersion="0", limit=count, **query)

        def touch(index: int, kind: str = kind, objects: list[Object] = objects) -> None:
            meta = objects[index % len(objects)]["metadata"]
            change = {"metadata": {"annotations": {"bench/touched": str(index)}}}
            plane.api.patch(kind, meta["name"], change, meta.get("namespace"))
        cpu = _settled_cpu(operator)
        plane.each(touch, range(count))
        rows.add(size, f"CPU of an event of {kind}", (_settled_cpu(operator) - cpu) / count * 1e3, "ms")


def _relist(plane: Plane, operator: Operator, rows: Rows, size: int) -> None:
    """A server that starts again, and has seen a write since, cannot go on with any watch: everything is listed."""
    cpu, memory = _settled_cpu(operator), operator.memory_mib()
    operator.forget_peak()
    plane.audit.begin()
    with operator.paused():
        plane.namespace()
        plane.restart_api_server()
    lists = plane.wait_for_lists(operator, KINDS)
    spent = _settled_cpu(operator) - cpu
    rows.add(size, "lists after the watches were lost", lists, "lists", grows=False)
    rows.add(size, "CPU of listing all again", spent, "s", grows=False)
    rows.add(size, "memory at most, listing all again / before", operator.memory_mib("VmHWM") / memory, "x",
             grows=False)


def measure(results: Results, pool_type: type[Whole], plane: Plane, sizes: list[int], events: int,
            relist: bool = True) -> None:
    """So many jobs, a node for ten of them, and the operator beside them."""
    pool, before = pool_type(plane), 0
    rows = Rows(results, pool, sizes)
    with plane.operator() as operator:
        _settled_cpu(operator)
        base = operator.memory_mib()
    for size in sizes:
        pool.add_nodes(size // JOBS)
        _add_jobs(plane, pool, rows, size, size - before)
        with plane.operator() as operator:
            _start(operator, pool, rows, size, base)
            _start_floor(plane, operator.ready_after, rows, size)
            _events(plane, operator, pool, rows, size, events)
            if relist and size == sizes[-1]:
                _relist(plane, operator, rows, size)
        before = size
    rows.exponents()
