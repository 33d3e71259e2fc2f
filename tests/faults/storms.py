# SPDX-License-Identifier: Apache-2.0
"""Runs most scenarios at the same time, again and again, while the operator is disturbed at random."""

import random
import threading
import time
import traceback
from typing import Any, Iterator

from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import RULES, RUNS, Report
from tests.faults.scenarios import SCENARIOS, Scenario
from tests.faults.world import World

# A start alone takes about 10 calls; one that never gets further would make no progress.
SHORTEST_LIFE, LONGEST_LIFE = 12, 80
# Like others of the storm but for what makes the job leave; each world that is there makes all others slower.
LEFT_OUT = ("drained-1", "drain_taken_back-2", "restart_asked-2", "told_to_stop-2", "makes_room-2")


def crashes(seed: int) -> Iterator[str]:
    numbers = random.Random(seed)
    while True:
        yield f"{numbers.choice(('before', 'after'))}:{numbers.randint(SHORTEST_LIFE, LONGEST_LIFE)}"


def storm(lab: FaultLab, report: Report, seconds: float, title: str, supervisor: Any) -> None:
    """title is enough to do it again."""
    worlds = [(scenario, lab.new_world()) for name, scenario in SCENARIOS.items() if name not in LEFT_OUT]
    before, end = len(lab.run_record.violations), time.monotonic() + seconds
    with supervisor:
        threads = [threading.Thread(target=_live, args=(scenario, world, supervisor, report, end, title))
                   for scenario, world in worlds]
        for thread in threads:
            thread.start()
        time.sleep(max(0.0, end - time.monotonic()))
        supervisor.calm()
        for thread in threads:
            thread.join()
        problems = supervisor.problems + lab.run_record.violations[before:]
        failed = [world for _, world in worlds if not _torn_down(world, problems)]
    for world in failed:
        world.abandon()
    report.add(supervisor, [])
    if problems:
        report.failed(title, "\n".join(problems))


def _torn_down(world: World, problems: list[str]) -> bool:
    try:
        world.tear_down()
        return True
    except Exception:  # pylint: disable=broad-exception-caught
        problems.append(traceback.format_exc())
        return False


def _live(scenario: Scenario, world: World, supervisor: Any, report: Report, end: float, title: str) -> None:
    world.supervisor = supervisor
    while True:
        try:
            result = scenario.run(world)
        except Exception:  # pylint: disable=broad-exception-caught
            report.failed(f"{title} ({scenario.name})", traceback.format_exc())
            return
        if result != scenario.expected:
            report.failed(f"{title} ({scenario.name})", f"ended with {result} instead of {scenario.expected}")
            return
        report.checked(RULES[0])
        report.passed(RUNS)
        if time.monotonic() > end:
            return
