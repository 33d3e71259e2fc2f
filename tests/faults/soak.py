# SPDX-License-Identifier: Apache-2.0
"""Runs all fault tests for a given time, or each once."""

import time

from tests.faults import modes
from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import Report
from tests.faults.scenarios import SCENARIOS

SUBMISSIONS = 10_000
ROUND_SUBMISSIONS, ROUND_FOREIGN = 500, 200


def soak(lab: FaultLab, report: Report, seed: int, minutes: float | None) -> None:
    """Without minutes: every crash point and 10,000 submissions, once."""
    if minutes is None:
        modes.checker(lab, report, seed)
        modes.races(lab, report, seed, SUBMISSIONS)
        modes.foreign(lab, report, seed, SUBMISSIONS // 10)
        modes.storms(lab, report, seed)
        modes.all_points(lab, report, seed, SCENARIOS)
        return
    until = time.monotonic() + 60 * minutes
    modes.checker(lab, report, seed)
    for number in range(1_000_000):
        turn = seed + 1000 * number
        modes.races(lab, report, turn, ROUND_SUBMISSIONS, max(20, min(180, until - time.monotonic())))
        modes.foreign(lab, report, turn, ROUND_FOREIGN, max(40, min(60, until - time.monotonic())))
        modes.storms(lab, report, turn)
        modes.all_points(lab, report, turn, SCENARIOS, min(until, time.monotonic() + 300))
        if time.monotonic() > until:
            return
