# SPDX-License-Identifier: Apache-2.0
"""One tenant sends ten times as many jobs as another: how much longer does that one wait than alone on its share?"""

import random
import tempfile
from pathlib import Path

from bench.suite.programs import call

GPUS = 88
DAYS = 10
PART = 80  # of its share that the small tenant needs, in percent
FLOOD = 10
SIZES = (1, 1, 1, 2, 4, 8)


def _jobs(tenant: str, gpu_seconds: float, seed: int) -> list[str]:
    chosen = random.Random(f"{tenant}{seed}")
    lines = []
    while gpu_seconds > 0:
        gpus, seconds = chosen.choice(SIZES), min(86400, int(chosen.lognormvariate(8.5, 1.2)) + 1)
        lines.append(f"{tenant},{chosen.randrange(DAYS * 86400)},{gpus},{seconds}")
        gpu_seconds -= gpus * seconds
    return lines


def _wait_of_small(lines: list[str], gpus: int, policy: str, seed: int) -> float:
    """In hours, on average."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.csv"
        path.write_text("\n".join(lines) + "\n", encoding="ascii")
        output = call("bench_fair", "--seed", seed, "--gpus", gpus, "--policies", policy, "--trace", path)
    return output["series"][policy]["wait"][output["tenants"].index("small")]


def flood(policy: str, seeds: int) -> tuple[float, float]:
    """The mean wait of the small tenant's jobs, in hours: beside the large one, and alone on half of the GPUs."""
    needs = GPUS / 2 * PART / 100 * DAYS * 86400
    beside = alone = 0.0
    for seed in range(1, seeds + 1):
        small = _jobs("small", needs, seed)
        beside += _wait_of_small([*small, *_jobs("large", FLOOD * needs, seed)], GPUS, policy, seed) / seeds
        alone += _wait_of_small(small, GPUS // 2, policy, seed) / seeds
    return beside, alone
