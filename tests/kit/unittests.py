# SPDX-License-Identifier: Apache-2.0
"""Loads tests by name, runs them, and says how many passed in a line that programs can read."""

import fnmatch
import json
import os
import sys
import time
import traceback
import unittest
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence

from tests.kit.paths import ROOT

SLOW = 10  # seconds
BEGIN_SHOWN, END_SHOWN = 4000, 3000  # characters of a long failure: what was waited for, and how things stood
TIMES_FILE = "GPUPOOL_TEST_TIMES"  # environment: the seconds of each test are written to this file


class VerboseResult(unittest.TextTestResult):
    """Prints each failure at once, and measures each test."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.seconds: dict[str, float] = {}
        self._begin = 0.0

    def startTest(self, test: unittest.TestCase) -> None:  # pylint: disable=invalid-name
        self._begin = time.monotonic()
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:  # pylint: disable=invalid-name
        super().stopTest(test)
        self.seconds[test.id()] = time.monotonic() - self._begin

    def tell(self, error: Any) -> None:
        text = "".join(traceback.format_exception(*error))
        cut = len(text) > BEGIN_SHOWN + END_SHOWN
        self.stream.write((text[:BEGIN_SHOWN] + "\n[...]\n" + text[-END_SHOWN:] if cut else text) + "\n")

    def addFailure(self, test: Any, err: Any) -> None:  # pylint: disable=invalid-name
        super().addFailure(test, err)
        self.tell(err)

    def addError(self, test: Any, err: Any) -> None:  # pylint: disable=invalid-name
        super().addError(test, err)
        self.tell(err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # pylint: disable=invalid-name
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.tell(err)


def short_id(folder: Path, test: Any) -> str:
    """MODULE.CLASS.METHOD, without the packages of the folder."""
    return test.id().removeprefix(".".join(folder.relative_to(ROOT).parts) + ".")


def _each(suite: Any) -> Iterator[Any]:
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from _each(item)
        else:
            yield item


def find_tests(folder: Path, names: Sequence[str] = ()) -> tuple[list[Any], list[str]]:
    """(tests, errors of modules that could not be loaded). A name is a part of MODULE.CLASS.METHOD, or a pattern with *."""
    patterns = [name if "*" in name else f"*{name}*" for name in names]
    loader = unittest.TestLoader()
    loaded = _each(loader.discover(str(folder), pattern="test_*.py", top_level_dir=str(ROOT)))
    found = [test for test in loaded if not patterns or type(test).__name__ == "_FailedTest"
             or any(fnmatch.fnmatchcase(short_id(folder, test), pattern) for pattern in patterns)]
    return found, [str(error) for error in loader.errors]


def suite_for_server(loader: unittest.TestLoader, cases: Sequence[type[unittest.TestCase]],
                     newer: type[unittest.TestCase], what: str, minor: int, since: int) -> unittest.TestSuite:
    """For load_tests: these cases, and from Kubernetes 1.`since` on also the newer one, which tries `what`."""
    if minor >= since:
        cases = [*cases, newer]
    else:
        print(f"{what} not among these tests: Kubernetes 1.{minor} has none, 1.{since} is the first.", file=sys.stderr)
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


def run_tests(folder: Path, names: Sequence[str]) -> int:
    """0 if all passed. A name is a module (test_gang), MODULE.CLASS.METHOD, or a part of either (-k of unittest)."""
    tests, errors = find_tests(folder, names)
    if not tests:
        print("no test of this name", *names, file=sys.stderr)
        print("RESULT passed=0 failed=1")
        return 1
    runner = unittest.TextTestRunner(verbosity=2, stream=sys.stdout, failfast=bool(os.environ.get("FAILFAST")),
                                     resultclass=VerboseResult)
    result: Any = runner.run(unittest.TestSuite(tests))
    for name, seconds in sorted(result.seconds.items(), key=lambda each: -each[1]):
        if seconds >= SLOW:
            print(f"  {seconds:5.1f} s  {name}")
    # A test whose parts fail one by one is one failed test.
    bad = len({getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors + result.skipped})
    bad += len(result.unexpectedSuccesses)
    times = os.environ.get(TIMES_FILE)
    if times:
        Path(times).write_text(json.dumps({short_id(folder, test): result.seconds[test.id()] for test in tests
                                           if test.id() in result.seconds}), encoding="utf-8")
    print(f"RESULT passed={result.testsRun - bad} failed={bad}", flush=True)
    return 1 if bad or errors else 0


def main(run: Callable[[list[str]], int], usage: str | None) -> None:
    """Ends the program: with --help it prints its usage, else it runs the tests that its arguments name."""
    names = sys.argv[1:]
    if any(name in ("-h", "--help") for name in names):
        print(usage)
        sys.exit(0)
    sys.exit(run(names))
