# SPDX-License-Identifier: Apache-2.0
"""Tests that a race that fails reports only that, leaves nothing in the cluster, and does not affect the next one."""

from typing import Any

from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import Report
from tests.faults.races.fleet import GPUS
from tests.faults.races.race import Race
from tests.kit.leaks import find_leaks
from tests.kit.waiting import wait_for

WHY = "broken on purpose"


class CollectingReport(Report):
    """Keeps failures instead of reporting them."""

    def failed(self, what: str, why: str) -> None:
        self.failures.append(why)


class BrokenRace(Race):
    """Ends in the middle, when jobs hold nodes and have workers."""

    def _run_to_its_end(self, *_: Any) -> None:
        wait_for("workers", lambda: sum(len(self._api.list("pods", space)) for space in self._namespaces()) > 3)
        raise AssertionError(WHY)


def broken_races(lab: FaultLab, report: Report, seed: int) -> None:
    kept = CollectingReport()
    for _ in range(2):
        BrokenRace(lab, kept, seed, 80, "").run()
    # Behind the traceback comes only where the records are kept.
    problems = [why for why in kept.failures if why.count("Traceback") != 1 or
                not why.rsplit("\nthe operators' logs", 1)[0].rstrip().endswith(WHY)]
    problems += [f"a pool is left: {pool}" for pool in GPUS if lab.api.find("gpupools", pool)] + find_leaks(lab.api)
    if problems or len(kept.failures) != 2:
        report.failed("--checker (broken races)", "\n".join(problems) or "did not fail")
    else:
        report.passed("races broken on purpose, after which the cluster was as new", 2)
