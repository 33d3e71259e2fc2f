"""Benchmarks that need no API server."""

from suite.programs import call

SUITES = {"placement": "bench_placement"}


def run(results, names, smoke, runs):
    for name in names:
        for _ in range(1 if smoke else runs):
            results.take(name, call(SUITES[name], *(["--smoke"] if smoke else [])))
