# SPDX-License-Identifier: Apache-2.0
"""Reads how many tests passed and failed from what test programs leave behind."""

import re
import xml.etree.ElementTree as xml
from typing import Any
from pathlib import Path

from tests.runner.shell import Done
from tests.runner.step_report import Result

MOST = 300  # characters of a reason


def add_ctest(result: Result, junit: Path) -> None:
    """Adds the results of `ctest --output-junit`. A test that was skipped, disabled or not found has failed."""
    for case in xml.parse(junit).getroot().iter("testcase"):
        status = case.get("status")
        detail = "" if status == "run" else (case.findtext("system-out") or status or "")
        result.check(case.get("name") or "", status == "run", "\n".join(detail.splitlines()[-60:]))


def add_program(result: Result, name: str, done: Done) -> None:
    """Adds the results of a test program from its output: our closing line, or unittest's."""
    passed, failed = _counts(done.output)
    result.passed += passed
    names = _failures(done.output)
    for number in range(failed):
        which = names[number] if len(names) == failed else f"{number + 1} of {failed}"
        result.fail(f"{name}: {which}", done.tail() if number == 0 else "")
    if done.code != 0 and failed == 0:
        result.fail(f"{name}: exit code {done.code}", done.tail())
    elif passed + failed == 0:
        result.fail(f"{name}: counted no test", done.tail())


def _failures(output: str) -> list[str]:
    """Each with its reason where the program says it: what unittest, our shell tests and tests/faults/run print."""
    found = []
    for line, block in re.findall(r"^(?:FAIL|ERROR): (.+)\n(?:.*\n)??-{10,}\n((?:(?![-=]{10,}$).*\n)*)", output, re.M):
        reasons = re.findall(r"^\w[\w.]*(?:Error|Exception|Interrupt)\b.*", block, re.M)
        found.append(_with_reason(line.split(" ")[0], reasons[-1] if reasons else ""))
    found += re.findall(r"^FAIL +[\d.]+ s +(.+)", output, re.M)
    for line, reason in dict(re.findall(r"^FAILED (tests/faults/run .*)\n    (.*)", output, re.M)).items():
        found.append(_with_reason(line, reason))
    return found


def _with_reason(what: str, reason: str) -> str:
    return f"{what}: {reason[:MOST]}" if reason else what


def _counts(output: str) -> Any:
    for closing in (r"^(\d+) (?:checks? )?passed, (\d+) failed", r"^RESULT passed=(\d+) failed=(\d+)"):
        found = re.findall(closing, output, re.M)
        if found:
            return int(found[-1][0]), int(found[-1][1])
    ran, bad = 0, 0
    for block in re.finditer(r"^Ran (\d+) tests? in .*\n\n?(?:OK|FAILED)(?: \((.*)\))?", output, re.M):
        ran += int(block.group(1))
        words = re.findall(r"([a-z][a-z ]*)=(\d+)", block.group(2) or "")
        bad += sum(int(number) for word, number in words if word != "expected failures")
    return max(ran - bad, 0), bad
