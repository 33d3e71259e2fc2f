# SPDX-License-Identifier: Apache-2.0
"""Plots of what jobs cost beside plain Jobs."""

from pathlib import Path

from bench.suite.results import Results
from bench.svg import bars

# Name of a result without its subject: (file, title).
PLAIN = {"all jobs": ("plain-time", "First submitted to last done, s"),
         "CPU of apiserver a job": ("plain-cpu", "API server's CPU a job, ms")}


def plot_plain(results: Results, folder: Path) -> None:
    """Writes nothing if `plain` has not run."""
    for name, (file, title) in PLAIN.items():
        values = {row["name"].removeprefix(name + ": "): row["median"] for row in results.rows()
                  if row["benchmark"].endswith("beside plain Jobs") and row["name"].startswith(name + ": ")
                  and " / " not in row["name"]}
        if values:
            bars(folder / f"{file}.svg", title, values)
