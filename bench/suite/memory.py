"""Benchmarks that need no API server."""

from suite import launcher
from suite.programs import ROOT, call

DATA = ROOT / "bench" / "data"
PROGRAMS = {"placement": ["bench_placement"], "decode": ["bench_decode", DATA], "watch": ["bench_watch", DATA]}
SUITES = [*PROGRAMS, "launcher", "plugin"]


def run(results, names, smoke, runs):
    for name in names:
        for _ in range(1 if smoke else runs):
            if name == "launcher":
                launcher.measure(results, 20 if smoke else 300)
            elif name == "plugin":
                results.take(name, call("bench_plugin", *(["--starts", 1, "--calls", 200] if smoke else [])))
            else:
                results.take(name, call(*PROGRAMS[name], *(["--smoke"] if smoke else [])))
