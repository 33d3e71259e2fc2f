# SPDX-License-Identifier: Apache-2.0
"""What has to hold between the policies on the synthetic twin, and beside a flood, as ratios inside one run."""

from dataclasses import dataclass
from typing import Iterator

from bench.fair.flood import flood
from bench.fair.table import Table

FLOOD_SEEDS = 3


@dataclass
class Check:
    what: str
    value: float
    limit: float
    at_least: bool = False

    def holds(self) -> bool:
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def text(self) -> str:
        sign = ">=" if self.at_least else "<="
        return f"{'ok' if self.holds() else 'BROKEN':6} {self.what}: {self.value:.4g}, wanted {sign} {self.limit:g}"


def checks(table: Table, policy: str) -> Iterator[Check]:
    """policy: the one that has to be the better one."""
    figures = table.figures
    ours, fifo, easy = figures[policy], figures["fifo"], figures["fifo+easy"]
    kueue, slurm = figures["kueue-like"], figures["slurm-like"]

    def ratio(name: str, of: dict[str, float], to: dict[str, float]) -> float:
        return of[name] / to[name] if to[name] else float(of[name] > 0)

    yield Check("fifo+easy / fifo, mean completion", ratio("mean completion", easy, fifo), 1)
    yield Check("slurm-like / fifo, mean completion", ratio("mean completion", slurm, fifo), 0.95)
    yield Check(f"{policy} / slurm-like, mean completion", ratio("mean completion", ours, slurm), 1)
    yield Check(f"{policy} / fifo, mean completion", ratio("mean completion", ours, fifo), 0.9)
    yield Check(f"{policy} / fifo, wait p50", ratio("wait p50", ours, fifo), 0.06)
    yield Check(f"{policy} / slurm-like, wait p99", ratio("wait p99", ours, slurm), 1)
    yield Check(f"{policy} / slurm-like, gang wait p99", ratio("gang wait p99", ours, slurm), 0.8)
    yield Check(f"{policy} / slurm-like, slowdown p99", ratio("slowdown p99", ours, slurm), 0.8)
    yield Check(f"{policy}, Jain", ours["Jain"], 0.98, at_least=True)
    yield Check(f"{policy}, contested utilisation", ours["contested utilisation"], 0.99, at_least=True)
    yield Check(f"{policy} / kueue-like, preemptions", ratio("preemptions", ours, kueue), 0.25)
    yield Check(f"{policy}, preemptions of one job", ours["preemptions of one job"], 10)
    yield Check(f"{policy}, lost %", ours["lost"], 0.1)
    yield Check(f"{policy}, broken promises", ours["broken promises"], 0)
    beside, alone = flood(policy, FLOOD_SEEDS)
    yield Check(f"{policy}, wait beside a tenant with ten times the jobs / alone on its share", beside / alone, 1.2)
