# SPDX-License-Identifier: Apache-2.0
"""Results of several runs: medians and spread, as a table, as JSON, and against what was promised."""

import json
import statistics
from typing import Any, Iterator
from pathlib import Path

from tests.kit.api import Object


class Results:
    def __init__(self, machine: dict[str, Any]) -> None:
        self.machine = machine
        self.runs = {}  # (benchmark, name) -> [entry of each run]

    def add(self, benchmark: str, name: str, value: float, unit: str, **more: Any) -> None:
        self.runs.setdefault((benchmark, name), []).append({"value": value, "unit": unit, **more})

    def take(self, benchmark: str, output: Object) -> None:
        """The JSON object that a program of bench/ prints."""
        for entry in output["results"]:
            entry = dict(entry)
            self.add(benchmark, entry.pop("name"), entry.pop("value"), entry.pop("unit"), **entry)

    def rows(self) -> Iterator[dict[str, Any]]:
        for (benchmark, name), entries in self.runs.items():
            values = [entry["value"] for entry in entries]
            row = {"benchmark": benchmark, "name": name, "unit": entries[0]["unit"], "runs": len(values),
                   "median": statistics.median(values), "min": min(values), "max": max(values)}
            for tail in ("p99", "p999"):
                if tail in entries[0]:
                    row[tail] = statistics.median(entry[tail] for entry in entries)
            yield row

    def print(self) -> None:
        rows = list(self.rows())
        if not rows:
            return
        width = max(len(row["name"]) for row in rows)
        shown = None
        for row in rows:
            if row["benchmark"] != shown:
                shown = row["benchmark"]
                heads = "".join(f"{head:>11}" for head in ("median", "p99", "p99.9", "min", "max"))
                print(f"\n{shown:{width}}{heads}  runs")
            cells = "".join(f"{row[key]:11.5g}" if key in row else " " * 11
                            for key in ("median", "p99", "p999", "min", "max"))
            print(f"{row['name']:{width}}{cells}{row['runs']:6}  {row['unit']}")

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"machine": self.machine, "results": list(self.rows())}, indent=1) + "\n")

    def broken_budgets(self, path: Path) -> Iterator[str]:
        """What does not depend on the machine must stay below its budget."""
        budgets = json.loads(path.read_text())
        for row in self.rows():
            if row["unit"] == "error":
                yield f"{row['benchmark']}: {row['name']} {row['median']:g}"
            most = budgets.get(row["benchmark"], {}).get(row["name"])
            if most is not None and row["median"] > most:
                yield f"{row['benchmark']}: {row['name']} is {row['median']:g} {row['unit']}, and may be {most:g}"

    def without_budget(self, path: Path) -> list[str]:
        """Budgets of what was not measured although its benchmark ran: a renamed result would escape them."""
        measured = {(benchmark, name) for benchmark, name in self.runs}
        ran = {benchmark for benchmark, _ in self.runs}
        return [f"{benchmark}: {name} has a budget and was not measured"
                for benchmark, names in json.loads(path.read_text()).items() if benchmark in ran
                for name in names if (benchmark, name) not in measured]
