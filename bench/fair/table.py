# SPDX-License-Identifier: Apache-2.0
"""What bench_fair tells of several seeds, as one table."""

import statistics
from typing import Any, Sequence

from bench.suite.programs import call
from tests.kit.api import Object

# name -> (head of its column, format)
COLUMNS = {
    "mean completion": ("mean", ".1f"), "completion p50": ("p50", ".1f"), "completion p99": ("p99", ".0f"),
    "mean wait": ("wait", ".1f"), "wait p50": ("p50", ".2f"), "wait p99": ("p99", ".0f"),
    "gang wait p99": ("gangs", ".0f"), "slowdown p99": ("slow", ".0f"), "makespan": ("all", ".0f"),
    "Jain": ("Jain", ".3f"), "contested utilisation": ("used", ".3f"), "preemptions": ("yields", ".0f"),
    "preemptions of one job": ("most", ".0f"), "lost": ("lost %", ".3f"), "past bound": ("late", ".1f"),
    "promises": ("told", ".0f"), "broken promises": ("broken", ".0f"), "pass p99": ("pass ms", ".2f")}
LEGEND = """Hours: mean, p50 and p99 from arrival to end; mean, p50 and p99 of the wait, p99 of that of gangs (16 GPUs or
more), and the time until all have ended. slow: p99 of the slowdown. Jain, used: fairness between tenants and part of the GPUs
in use, while more was asked for than there is. yields, most: preemptions, and of one job. lost: GPU time held beyond
the run times. late: jobs held GPUs for longer than they declared, because of that. told, broken: reservations with a
latest start, and those that came later. pass ms: p99 of a decision, on this machine."""
GREATEST = "preemptions of one job"


class Table:
    """figures: policy -> name -> mean over the seeds, or the greatest. series: policy -> of the first seed."""

    def __init__(self, outputs: Sequence[Object]) -> None:
        self.window_hours = outputs[0]["window"] / 3600
        self.series: dict[str, dict[str, list[float]]] = outputs[0]["series"]
        self.seeds = len(outputs)
        values: dict[str, dict[str, list[float]]] = {}
        for entry in (entry for output in outputs for entry in output["results"]):
            policy, _, name = entry["name"].rpartition(": ")
            values.setdefault(policy, {}).setdefault(name, []).append(entry["value"])
        self.workload = {name: statistics.mean(found) for name, found in values.pop("").items()}
        self.figures = {policy: {name: max(found) if name == GREATEST else statistics.mean(found)
                                 for name, found in names.items()} for policy, names in values.items()}

    def text(self) -> str:
        width = max(map(len, self.figures)) + 1
        lines = [f"{self.workload['jobs']:.0f} jobs, {self.workload['work']:.0f} GPU-hours, "
                 f"mean of {self.seeds} seed{'s' if self.seeds > 1 else ''}",
                 " " * width + "".join(f"{head:>8}" for head, _ in COLUMNS.values())]
        for policy, figures in self.figures.items():
            cells = "".join(f"{figures[name]:8{form}}" for name, (_, form) in COLUMNS.items())
            lines.append(f"{policy:{width}}{cells}")
        return "\n".join([*lines, "", LEGEND])


def play(seeds: int, *arguments: Any) -> Table:
    """Runs bench_fair once a seed."""
    return Table([call("bench_fair", "--seed", seed, *arguments) for seed in range(1, seeds + 1)])
