"""The ways in which the operator is made to suffer, each by itself."""

import random

from checker.selftest import self_test
from crash_points import CrashPoints
from duel import Duel
from races.broken import broken_races
from races.race import Race
from scenarios import SCENARIOS
from storms import crashes, storm
from supervisor import Supervisor
from undone import taints_come_back

MANY = 100_000
FOREIGN = 100


def storms(lab, report, seed):
    storm(lab, report, 15, f"--storm --seed {seed}", Supervisor(lab.process, crashes(seed)))
    faults = f"seed={seed},rate=0.05"
    storm(lab, report, 20, f"--storm --seed {seed} ({faults})", Supervisor(lab.process, (), faults))
    storm(lab, report, 20, f"--storm --seed {seed} (duel)", Duel(lab.pair(), seed))


def races(lab, report, seed, submissions, seconds=None):
    lab.leave_worlds()
    again = f"--races --submissions {submissions or MANY} --seed {seed}"
    Race(lab, report, seed, submissions or MANY, again, seconds).run()


def foreign(lab, report, seed, submissions=16, seconds=None):
    lab.leave_worlds()
    Race(lab, report, seed, submissions, f"--foreign --seed {seed}", seconds, foreign=FOREIGN).run()


def checker(lab, report, seed):
    lab.leave_worlds()
    self_test(lab, report)
    broken_races(lab, report, seed)


def undone(lab, report, _seed):
    taints_come_back(lab, report)


def sample_of_points(lab, report, seed, count):
    """So many crash points, the scenarios in turn; one run in four has a second crash after the first."""
    points, numbers, calls = CrashPoints(lab, report), random.Random(seed), {}
    while sum(report.points.values()) < count and not report.failures:
        for scenario in SCENARIOS.values():
            most = calls.get(scenario.name, 60)
            lives = [f"{numbers.choice(('before', 'after'))}:{numbers.randint(1, most)}"
                     for _ in range(numbers.choice((1, 1, 1, 2)))]
            if not points.run(scenario, lives):  # it makes fewer calls
                calls[scenario.name] = int(lives[0].split(":")[1]) - 1


def all_points(lab, report, seed, names, until=float("inf")):
    """Every crash point of these scenarios, in an order that the seed gives. False if the time was not enough."""
    points, numbers = CrashPoints(lab, report), random.Random(seed)
    return all(points.every(SCENARIOS[name], numbers, until) for name in numbers.sample(list(names), len(names)))
