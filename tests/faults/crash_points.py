# SPDX-License-Identifier: Apache-2.0
"""Runs a scenario with an operator that is killed exactly before or after its n-th call."""

import itertools
import time
import traceback
from random import Random
from typing import Iterable

from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import RULES, RUNS, Report
from tests.faults.scenarios import Scenario
from tests.faults.supervisor import Supervisor

ENTER_AT = 100  # segments of bills; until then GpuBillRecords keep them
MARK_LIMIT = 5.0  # promise 2 of the design


class CrashPoints:
    def __init__(self, lab: FaultLab, report: Report) -> None:
        self._lab, self._report = lab, report
        self._calls = 0  # of the last operator of the last run

    def every(self, scenario: Scenario, numbers: Random, until: float) -> bool:
        """Crashes at each call of this scenario, in any order. False if the time was not enough."""
        self.run(scenario, [])
        known = self._calls
        points = [(when, n) for when in ("before", "after") for n in range(1, known + 1)]
        for when, n in numbers.sample(points, len(points)):
            if time.monotonic() > until:
                return False
            self.run(scenario, [f"{when}:{n}"])
        for when in ("before", "after"):  # other threads, other calls: some runs have more of them
            missed = 0
            for n in itertools.count(known + 1):
                missed = 0 if self.run(scenario, [f"{when}:{n}"]) else missed + 1
                if missed == 3:
                    break
        print(f"{scenario.name}: died before and after each of {known} calls", flush=True)
        return True

    def run(self, scenario: Scenario, lives: Iterable[str], faults: str = "") -> int:
        """How often the operator died. lives: GPUPOOL_CRASH of each start."""
        again = f"--scenario {scenario.name}" + "".join(f" --crash {life}" for life in lives)
        again += faults and f" --faults {faults}"
        world = self._lab.world
        violations = self._lab.run_record.violations
        before, world.slowest_mark = len(violations), 0.0
        with Supervisor(self._lab.process, lives, faults) as supervisor:
            world.supervisor = supervisor
            try:
                result, problems = scenario.run(world), []
                if result != scenario.expected:
                    problems.append(f"ended with {result} instead of {scenario.expected}")
                if world.slowest_mark > MARK_LIMIT and not faults:
                    problems.append(f"{world.slowest_mark:.1f} s until all that was left was marked for deletion")
                self._calls = supervisor.calls()
            except Exception:  # pylint: disable=broad-exception-caught
                problems = [traceback.format_exc()]
        problems += supervisor.problems + violations[before:] + self._lab.compare_books(ENTER_AT)
        self._report.add(supervisor, [world])
        self._report.points[scenario.name] += len(supervisor.crashes)
        for rule in RULES:
            self._report.checked(rule)
        if problems:
            self._report.failed(again, "\n".join(problems))
            self._lab.fresh_world()
        else:
            self._report.passed(RUNS)
        return len(supervisor.crashes)
