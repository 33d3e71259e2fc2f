# SPDX-License-Identifier: Apache-2.0
"""Reads how many tests passed and failed from what test programs leave behind."""

import re
import xml.etree.ElementTree as xml
from typing import Any
from pathlib import Path

from tests.runner.shell import Done
from tests.runner.step_report import Result

MOST = 300  # characters of a reason


def add_ctest(result: Result, junit: Path, gtest: Path) -> None:
    """Adds the results of `ctest --output-junit`. A test that was skipped, disabled or not found has failed.

    gtest: the folder where each GoogleTest program has told of its single tests, in NAME.xml."""
    for case in xml.parse(junit).getroot().iter("testcase"):
        name, status = case.get("name") or "", case.get("status")
        told = gtest / f"{name}.xml"
        if told.exists() and (_add_gtest(result, name, told) or status == "run"):
            continue  # else it failed after its tests
        detail = "" if status == "run" else (case.findtext("system-out") or status or "")
        result.check(name, status == "run", "\n".join(detail.splitlines()[-60:]))


def _add_gtest(result: Result, program: str, path: Path) -> bool:
    """True if one of its tests has failed."""
    before = len(result.failures)
    cases = list(xml.parse(path).getroot().iter("testcase"))
    if not cases:
        result.fail(f"{program}: ran no test")
    for case in cases:
        reasons = [failure.get("message") or "" for failure in case.iter("failure")]
        done = case.get("status") == "run" and case.get("result") == "completed"
        if not done and not reasons:
            reasons = [str(case.get("result"))]  # skipped, or suppressed
        name = f"{program}.{case.get('classname')}.{case.get('name')}"
        result.check(name, not reasons, "\n".join("\n".join(reasons).splitlines()[-60:]))
    return len(result.failures) > before


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
