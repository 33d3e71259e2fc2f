# SPDX-License-Identifier: Apache-2.0
"""What owners earn with fixed prices and with one that follows demand, on synthetic demand (bench/pricing). No time counts."""

from pathlib import Path

from bench.suite.programs import call
from bench.suite.results import Results
from bench.svg import bars, lines
from tests.kit.api import Object

BENCHMARK = "pricing, 64 GPUs for 28 days"
POLICIES = {"leader": "leader", "leader, others' bids alone": "leader of others"}
WEEK = 7 * 96  # steps of a quarter of an hour


def measure(results: Results, smoke: bool, plots: Path) -> None:
    """Writes plots into that folder."""
    output = call("bench_pricing", "--seeds", 1 if smoke else 5)
    for row in output["loads"]:
        best = row["best fixed"]
        results.add(BENCHMARK, f"best fixed price at load {row['load']}", row["best fixed price"], "")
        for name, short in POLICIES.items():
            for what in ("profit", "use", "welfare"):
                results.add(BENCHMARK, f"{what} of {short} / best fixed, load {row['load']}", row[name][what] / best[what], "")
    for row in output["shading"]:
        for name in ("one price", "others' bids alone"):
            results.add(BENCHMARK, f"most that a tenant gains by lower bids, {name}, load {row['load']}",
                        max(gain for _, gain in row[name]), "")
    plot(output, plots)


def plot(output: Object, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for row in output["loads"]:
        load = row["load"]
        profits = {f"fixed {price:.2f}": profit for price, profit in row["fixed"] if round(price * 100) % 30 == 0}
        profits |= {short: row[name]["profit"] for name, short in POLICIES.items()}
        bars(folder / f"pricing-profit-{load:g}.svg", f"Profit of the owner in 28 days, {load:g} times the GPUs asked for", profits)
    busy = output["loads"][1]["series"]
    lines(folder / "pricing-week.svg", "A week with a price that follows demand, 1.5 times the GPUs asked for", 0.25,
          {"price": busy["price"][WEEK:2 * WEEK], "GPUs sold, part": busy["used"][WEEK:2 * WEEK]})
