# SPDX-License-Identifier: Apache-2.0
"""Benchmarks on a control plane, with nodes and kubelets that are played."""

import sys
from typing import Any
from argparse import Namespace

from bench.suite import billing, burst, latency, replay, scale, sweep
from bench.suite.plane import Plane
from bench.suite.results import Results


def _bursts(results: Results, plane: Plane, options: Namespace) -> Any:
    if options.smoke:
        return burst.bursts(results, plane, 20, 20, 1)
    for jobs in options.jobs or (100, 1000):
        burst.bursts(results, plane, jobs, 1000, options.runs)
    return None


def _plain(results: Results, plane: Plane, options: Namespace) -> None:
    if options.smoke:
        return burst.plain(results, plane, 20, 20, 1)
    for jobs in options.jobs or (1000,):
        burst.plain(results, plane, jobs, 1000, options.runs)
    return None


def _steady(results: Results, plane: Plane, options: Namespace) -> None:
    burst.steady(results, plane, *((20, 2) if options.smoke else (1000, 130)))


def _latency(results: Results, plane: Plane, options: Namespace) -> None:
    latency.idle(results, plane, *((3, 2, 20, 1) if options.smoke else (100, 40, 20, options.runs)))


def _busy(results: Results, plane: Plane, options: Namespace) -> None:
    latency.busy(results, plane, *((5, 2, 20, 1) if options.smoke else (500, 40, 1000, options.runs)))


def _teardown(results: Results, plane: Plane, options: Namespace) -> None:
    burst.teardown(results, plane, *((10, 20, 1) if options.smoke else (100, 100, options.runs)))


def _sweep(results: Results, plane: Plane, options: Namespace) -> None:
    sweep.measure(results, plane, *((20, 20, 1) if options.smoke else (1000, 1000, options.runs)))


def _billing(results: Results, plane: Plane, options: Namespace) -> None:
    billing.measure(results, plane, *((20, 20, 1) if options.smoke else (1000, 1000, options.runs)))


def _sizes(most: int) -> list[int]:
    return [most // 80 * 10, most // 40 * 10, most // 20 * 10, most // 10 * 10]


def _scale(results: Results, plane: Plane, options: Namespace) -> None:
    sizes = [20] if options.smoke else _sizes(max(options.jobs or [10000]))
    scale.measure(results, scale.Whole, plane, sizes, 20 if options.smoke else 1000)


def _sharing(results: Results, plane: Plane, options: Namespace) -> None:
    sizes = [20] if options.smoke else _sizes(max(options.jobs or [2000]))
    # Tiny, one new list of everything is enough.
    scale.measure(results, scale.Shared, plane, sizes, 20 if options.smoke else 1000, not options.smoke)


def _replay(results: Results, plane: Plane, options: Namespace) -> None:
    size = replay.Size(2, 5, 3, 1, 1) if options.smoke else replay.Size(max(1, round(30 * options.scale)))
    replay.measure(results, plane, size, options.workers, 1)


# In this order: the first ones are on few nodes.
SUITES = {"replay": _replay, "latency": _latency, "teardown": _teardown, "burst": _bursts, "plain": _plain, "busy": _busy,
          "sweep": _sweep, "billing": _billing, "steady": _steady, "scale": _scale, "sharing": _sharing}
LEAVING = {"scale", "sharing"}


def _groups(names: list[str], smoke: bool) -> Any:
    """One control plane for each: what leaves its jobs would weigh on the others."""
    if smoke:
        return [names]
    alone = [name for name in names if name in LEAVING]
    return [[name for name in names if name not in LEAVING], *([name] for name in alone)]


def run(results: Results, names: list[str], options: Namespace) -> None:
    for group in _groups([name for name in SUITES if name in names], options.smoke):
        if not group:
            continue
        with Plane(options.smoke) as plane:
            results.machine["kubernetes"] = plane.version
            if not options.smoke:
                burst.warm_up(plane)
            for name in group:
                print(f"bench/run: {name}", file=sys.stderr, flush=True)
                SUITES[name](results, plane, options)
