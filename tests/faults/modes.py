# SPDX-License-Identifier: Apache-2.0
"""The kinds of fault tests, each by itself."""

import random
from typing import Collection

from tests.faults.checker.selftest import self_test
from tests.faults.crash_points import CrashPoints
from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import Report
from tests.faults.operator_pair import DisturbedPair
from tests.faults.races.broken import broken_races
from tests.faults.races.race import Race
from tests.faults.removed_taints import taints_come_back
from tests.faults.scenarios import SCENARIOS
from tests.faults.storms import crashes, storm
from tests.faults.supervisor import Supervisor

MANY = 100_000
FOREIGN = 100


def storms(lab: FaultLab, report: Report, seed: int) -> None:
    storm(lab, report, 15, f"--storm --seed {seed}", Supervisor(lab.process, crashes(seed)))
    faults = f"seed={seed},rate=0.05"
    storm(lab, report, 20, f"--storm --seed {seed} ({faults})", Supervisor(lab.process, (), faults))
    storm(lab, report, 20, f"--storm --seed {seed} (two operators)", DisturbedPair(lab.pair(), seed))


def races(lab: FaultLab, report: Report, seed: int, submissions: int | None, seconds: float | None = None) -> None:
    lab.leave_worlds()
    again = f"--races --submissions {submissions or MANY} --seed {seed}"
    Race(lab, report, seed, submissions or MANY, again, seconds).run()


def foreign(lab: FaultLab, report: Report, seed: int, submissions: int = 16, seconds: float | None = None) -> None:
    lab.leave_worlds()
    Race(lab, report, seed, submissions, f"--foreign --seed {seed}", seconds, foreign=FOREIGN).run()


def checker(lab: FaultLab, report: Report, seed: int) -> None:
    lab.leave_worlds()
    self_test(lab, report)
    broken_races(lab, report, seed)


def undone(lab: FaultLab, report: Report, _seed: int) -> None:
    taints_come_back(lab, report)


def sample_of_points(lab: FaultLab, report: Report, seed: int, count: int) -> None:
    """So many crash points, the scenarios in turn; one run in four has a second crash after the first."""
    points, numbers, calls = CrashPoints(lab, report), random.Random(seed), {}
    while sum(report.points.values()) < count and not report.failures:
        for scenario in SCENARIOS.values():
            most = calls.get(scenario.name, 60)
            lives = [f"{numbers.choice(('before', 'after'))}:{numbers.randint(1, most)}"
                     for _ in range(numbers.choice((1, 1, 1, 2)))]
            if not points.run(scenario, lives):  # it makes fewer calls
                calls[scenario.name] = int(lives[0].split(":")[1]) - 1


def all_points(lab: FaultLab, report: Report, seed: int, names: Collection[str], until: float = float("inf")) -> bool:
    """Every crash point of these scenarios, in an order that the seed gives. False if the time was not enough."""
    points, numbers = CrashPoints(lab, report), random.Random(seed)
    return all(points.every(SCENARIOS[name], numbers, until) for name in numbers.sample(list(names), len(names)))
