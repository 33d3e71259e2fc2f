"""Benchmarks on a control plane, with nodes and kubelets that are played."""

import sys

from suite import burst
from suite.plane import Plane


def _bursts(results, plane, smoke, runs):
    if smoke:
        return burst.bursts(results, plane, 30, 20, 1)
    for jobs in (100, 1000):
        burst.bursts(results, plane, jobs, 1000, runs)
    return None


def _huge(results, plane, smoke, _runs):
    if not smoke:
        burst.bursts(results, plane, 10000, 1000, 1)


def _steady(results, plane, smoke, _runs):
    burst.steady(results, plane, 20 if smoke else 1000, 3 if smoke else 60)


def _latency(results, plane, smoke, runs):
    burst.latency(results, plane, 5 if smoke else 100, 20, 1 if smoke else runs)


def _teardown(results, plane, smoke, runs):
    burst.teardown(results, plane, 10 if smoke else 100, 20 if smoke else 100, 1 if smoke else runs)


# In this order: the first ones are on few nodes.
SUITES = {"latency": _latency, "teardown": _teardown, "burst": _bursts, "steady": _steady, "huge": _huge}


def run(results, names, smoke, runs):
    if not names:
        return
    with Plane() as plane:
        results.machine["kubernetes"] = plane.version
        for name in SUITES:
            if name in names:
                print(f"bench/run: {name}", file=sys.stderr, flush=True)
                SUITES[name](results, plane, smoke, runs)
