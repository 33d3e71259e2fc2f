# SPDX-License-Identifier: Apache-2.0
"""The summary names each failed test, and why it failed."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from tests.runner.counts import add_ctest, add_program
from tests.runner.shell import Done
from tests.runner.step_report import Result

UNITTEST = """test_one (a.B.test_one) ... FAIL
======================================================================
FAIL: test_one (a.B.test_one)
A sentence about it.
----------------------------------------------------------------------
Traceback (most recent call last):
  File "a.py", line 7, in test_one
    self.assertEqual(1, 2)
AssertionError: 1 != 2

======================================================================
ERROR: test_two (a.B.test_two)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "a.py", line 9, in test_two
tests.kit.api.ApiError: 404

----------------------------------------------------------------------
Ran 3 tests in 1.000s

FAILED (failures=1, errors=1)
RESULT passed=1 failed=2
"""
FAULTS = """FAILED --scenario yields --crash after:3
Traceback (most recent call last):
AssertionError: waited 60 s

FAILED tests/faults/run --scenario yields --crash after:3
    AssertionError: waited 60 s
RESULT passed=7 failed=1
"""


class FailureTest(unittest.TestCase):
    def failures_of(self, output: str) -> list[str]:
        result = Result()
        with contextlib.redirect_stdout(io.StringIO()):
            add_program(result, "step", Done(1, output))
        return result.failures

    def test_names_and_reasons_of_unittest(self) -> None:
        self.assertEqual(["step: test_one: AssertionError: 1 != 2", "step: test_two: tests.kit.api.ApiError: 404"],
                         self.failures_of(UNITTEST))

    def test_names_and_reasons_of_fault_tests(self) -> None:
        self.assertEqual(["step: tests/faults/run --scenario yields --crash after:3: AssertionError: waited 60 s"],
                         self.failures_of(FAULTS))

    def test_of_a_program_that_names_none(self) -> None:
        self.assertEqual(["step: 1 of 2", "step: 2 of 2"], self.failures_of("RESULT passed=1 failed=2\n"))

    def test_of_our_shell_tests(self) -> None:
        self.assertEqual(["step: both are down"], self.failures_of("FAIL    1.0 s  both are down\n3 checks passed, 1 failed\n"))


class CtestTest(unittest.TestCase):
    JUNIT = """<testsuite>
<testcase name="script" status="run"/>
<testcase name="good-0" status="run"/>
<testcase name="bad-0" status="fail"><system-out>one line</system-out></testcase>
<testcase name="leaks-0" status="fail"><system-out>LeakSanitizer</system-out></testcase>
<testcase name="dies-0" status="fail"><system-out>Segmentation fault</system-out></testcase>
<testcase name="skips-0" status="run"/>
<testcase name="empty-0" status="run"/>
</testsuite>"""
    GTEST = {"good-0": '<testcase name="A" status="run" result="completed" classname="S"/>' * 3,
             "bad-0": '<testcase name="A" status="run" result="completed" classname="S"/>'
                      '<testcase name="B" status="run" result="completed" classname="S"><failure message="1 is not 2"/></testcase>',
             "leaks-0": '<testcase name="A" status="run" result="completed" classname="S"/>',
             "skips-0": '<testcase name="A" status="run" result="skipped" classname="S"/>'
                        '<testcase name="B" status="notrun" result="suppressed" classname="S"/>',
             "empty-0": ""}

    def test_each_test_of_each_program_is_counted(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "junit").write_text(self.JUNIT, encoding="utf-8")
            for program, cases in self.GTEST.items():
                (folder / f"{program}.xml").write_text(f"<testsuites><testsuite>{cases}</testsuite></testsuites>", encoding="utf-8")
            result, shown = Result(), io.StringIO()
            with contextlib.redirect_stdout(shown):
                add_ctest(result, folder / "junit", folder)
        self.assertEqual(1 + 3 + 1 + 1, result.passed)
        self.assertEqual(["bad-0.S.B", "leaks-0", "dies-0", "skips-0.S.A", "skips-0.S.B", "empty-0: ran no test"], result.failures)
        for reason in ("1 is not 2", "LeakSanitizer", "Segmentation fault", "skipped", "suppressed"):
            self.assertIn(reason, shown.getvalue())
