# SPDX-License-Identifier: Apache-2.0
"""The summary names each failed test, and why it failed."""

import contextlib
import io
import unittest

from tests.runner.counts import add_program
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
