# SPDX-License-Identifier: Apache-2.0
"""Policies of a queue on a synthetic workload (bench/fair). Only the times depend on the machine."""

from bench.fair.checks import checks
from bench.fair.table import play
from bench.suite.results import Results

CHECKED = "gpupool"
POLICIES = ["fifo", "kueue-like", "slurm-like", CHECKED]
FIGURES = {"mean completion": "h", "gang wait p99": "h", "Jain": "", "preemptions": "", "preemptions of one job": "",
           "lost": "%", "broken promises": "", "pass p99": "ms"}
SMOKE = ["--gpus", 88, "--days", 10]


def measure(results: Results, smoke: bool) -> None:
    table = play(1, *SMOKE) if smoke else play(5)
    benchmark = "fair, 10 days of 88 GPUs" if smoke else "fair, 30 days of 440 GPUs"
    for policy in POLICIES:
        for name, unit in FIGURES.items():
            results.add(benchmark, f"{policy}: {name}", table.figures[policy][name], unit)
    if smoke:
        return  # too few jobs to compare
    for check in checks(table, CHECKED):
        results.add(benchmark, check.what if check.holds() else check.text(), check.value,
                    "" if check.holds() else "error")
