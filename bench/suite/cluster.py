"""Benchmarks on a control plane, with nodes and kubelets that are played."""

import sys

from suite import burst, replay, scale
from suite.plane import Plane


def _bursts(results, plane, options):
    if options.smoke:
        return burst.bursts(results, plane, 20, 20, 1)
    for jobs in options.jobs or (100, 1000):
        burst.bursts(results, plane, jobs, 1000, options.runs)
    return None


def _steady(results, plane, options):
    burst.steady(results, plane, *((20, 3) if options.smoke else (1000, 60)))


def _latency(results, plane, options):
    burst.latency(results, plane, *((3, 20, 1) if options.smoke else (100, 20, options.runs)))


def _teardown(results, plane, options):
    burst.teardown(results, plane, *((10, 20, 1) if options.smoke else (100, 100, options.runs)))


def _scale(results, plane, options):
    plane.need_nodes(20 if options.smoke else 1000)
    scale.measure(results, plane, [20] if options.smoke else [1000, 2000, 4000])


def _replay(results, plane, options):
    size = replay.Size(2, 5, 3, 1, 1) if options.smoke else replay.Size(max(1, round(30 * options.scale)))
    replay.measure(results, plane, size, options.workers, 1)


# In this order: the first ones are on few nodes.
SUITES = {"replay": _replay, "latency": _latency, "teardown": _teardown, "burst": _bursts, "steady": _steady, "scale": _scale}


def run(results, names, options):
    if not names:
        return
    with Plane() as plane:
        results.machine["kubernetes"] = plane.version
        for name in SUITES:
            if name in names:
                print(f"bench/run: {name}", file=sys.stderr, flush=True)
                SUITES[name](results, plane, options)
