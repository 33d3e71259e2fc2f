# SPDX-License-Identifier: Apache-2.0
"""Plots of the comparison of policies: bars of one figure by policy, and lines over time."""

from pathlib import Path

from bench.fair.table import Table
from bench.svg import bars, lines

BARS = {"mean completion": "Mean completion, hours", "wait p50": "Median wait, hours", "wait p99": "Wait, p99, hours",
        "gang wait p99": "Wait of gangs, p99, hours", "Jain": "Fairness between tenants (Jain)",
        "preemptions": "Preemptions"}


def plot(table: Table, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, title in BARS.items():
        bars(folder / f"{name.replace(' ', '-')}.svg", title, {p: f[name] for p, f in table.figures.items()})
    lines(folder / "queue.svg", "Waiting jobs over time", table.window_hours,
          {policy: series["waiting"] for policy, series in table.series.items()})
