# SPDX-License-Identifier: Apache-2.0
"""Benchmarks that need no API server."""

from pathlib import Path

from bench.suite import carry, fair, instructions, keeper, launcher, log_streams, page, pricing
from bench.suite.growth import exponent
from bench.suite.programs import call
from bench.suite.results import Results
from tests.kit.api import Object
from tests.kit.paths import ROOT

DATA = ROOT / "bench" / "data"
PROGRAMS: dict[str, list] = {"placement": ["bench_placement"], "decode": ["bench_decode", DATA],
                             "watch": ["bench_watch", DATA], "ledger": ["bench_ledger"]}
SUITES = [*PROGRAMS, "carry", "fair", "instructions", "keeper", "launcher", "logs", "page", "plugin", "pricing"]


def _growth(results: Results, name: str, output: Object) -> None:
    """Of times that are told for several numbers of jobs: "node event, 1000 jobs"."""
    points = {}
    for entry in output["results"]:
        what, _, size = entry["name"].rpartition(", ")
        if size.endswith(" jobs"):
            points.setdefault(what, []).append((int(size.split()[0]), entry["value"]))
    for what, found in points.items():
        slope = exponent(found)
        if slope is not None:
            results.add(name, f"exponent of {what} over jobs", slope, "")


def run(results: Results, names: list[str], smoke: bool, runs: int, plots: Path) -> None:
    for name in names:
        if name == "instructions":
            instructions.measure(results, PROGRAMS.values())
            continue
        if name == "fair":
            fair.measure(results, smoke)  # the same in every run
            continue
        if name == "pricing":
            pricing.measure(results, smoke, plots)  # the same in every run
            continue
        for _ in range(1 if smoke else runs):
            if name == "carry":
                carry.measure(results, smoke)
            elif name == "keeper":
                keeper.measure(results, smoke)
            elif name == "launcher":
                launcher.measure(results, 20 if smoke else 300)
            elif name == "logs":
                log_streams.measure(results, smoke)
            elif name == "page":
                page.measure(results, smoke)
            elif name == "plugin":
                results.take(name, call("bench_plugin", *(["--starts", 1, "--calls", 200] if smoke else [])))
            else:
                output = call(*PROGRAMS[name], *(["--smoke"] if smoke else []))
                results.take(name, output)
                _growth(results, name, output)
