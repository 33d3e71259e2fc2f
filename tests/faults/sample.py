# SPDX-License-Identifier: Apache-2.0
"""The sample that tests/run runs, on four control planes side by side: most of it is waiting."""

import os
import re
import subprocess
import sys

from tests.faults import modes
from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import Report

POINTS = (60, 60)  # crash points of each program that runs beside this one
SUBMISSIONS = 96
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
LIMIT = 1500  # only for hangs


def sample(lab: FaultLab, report: Report, seed: int) -> None:
    own = {name: value for name, value in os.environ.items() if name != "TEST_KUBECONFIG"}
    arguments = [["--points", str(count), "--seed", str(seed + number)] for number, count in enumerate(POINTS)]
    arguments.append(["--storm", "--seed", str(seed)])
    programs = [subprocess.Popen([PROGRAM, *each], env=own, stdout=subprocess.PIPE, text=True) for each in arguments]
    try:
        modes.checker(lab, report, seed)
        modes.races(lab, report, seed, SUBMISSIONS)
        modes.foreign(lab, report, seed)
        modes.undone(lab, report, seed)
        outputs = [program.communicate(timeout=LIMIT)[0] for program in programs]
    finally:
        for program in programs:
            program.terminate()
        for program in programs:
            program.wait()
    for each, output in zip(arguments, outputs):
        _add(report, output, " ".join(each))


def _add(report: Report, output: str, again: str) -> None:
    """What another program has found."""
    print(output, file=sys.stderr if "failed=0" not in output else sys.stdout, flush=True)
    found = re.findall(r"^RESULT passed=(\d+) failed=(\d+)", output, re.M)
    passed, failed = map(int, found[-1]) if found else (0, 1)
    report.passed("checks of programs on control planes of their own", passed)
    failures = re.findall(r"^FAILED tests/faults/run (.*)\n    (.*)", output, re.M)
    for what, why in failures or [(again, f"{failed} failed")] * bool(failed):
        report.failed(what, why)
