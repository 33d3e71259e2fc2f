"""Loads tests by name, runs them, and says how many passed in a line that programs can read."""

import os
import sys
import time
import traceback
import unittest


SLOW = 10  # seconds


class TellingResult(unittest.TextTestResult):
    """Shows a failure when it happens: a whole run takes minutes. Knows how long each test took."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.seconds = {}
        self._begin = 0

    def startTest(self, test):  # pylint: disable=invalid-name
        self._begin = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):  # pylint: disable=invalid-name
        super().stopTest(test)
        self.seconds[test.id()] = time.monotonic() - self._begin

    def tell(self, error):
        self.stream.writeln("".join(traceback.format_exception(*error))[-3000:])

    def addFailure(self, test, err):  # pylint: disable=invalid-name
        super().addFailure(test, err)
        self.tell(err)

    def addError(self, test, err):  # pylint: disable=invalid-name
        super().addError(test, err)
        self.tell(err)

    def addSubTest(self, test, subtest, err):  # pylint: disable=invalid-name
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.tell(err)


def run_tests(folder, names):
    """0 if all passed. A name is a module (test_gang), Module.Class.method, or a part of either (-k of unittest)."""
    loader = unittest.TestLoader()
    if names:
        loader.testNamePatterns = [name if "*" in name else f"*{name}*" for name in names]
    suite = loader.discover(folder, pattern="test_*.py", top_level_dir=folder)
    if suite.countTestCases() == 0:
        print("no test of this name", *names, file=sys.stderr)
        print("RESULT passed=0 failed=1")
        return 1
    runner = unittest.TextTestRunner(verbosity=2, stream=sys.stdout, failfast=bool(os.environ.get("FAILFAST")),
                                     resultclass=TellingResult)
    result = runner.run(suite)
    for name, seconds in sorted(result.seconds.items(), key=lambda each: -each[1]):
        if seconds >= SLOW:
            print(f"  {seconds:5.1f} s  {name}")
    # A test whose parts fail one by one is one failed test.
    bad = len({getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors + result.skipped})
    bad += len(result.unexpectedSuccesses)
    print(f"RESULT passed={result.testsRun - bad} failed={bad}", flush=True)
    return 1 if bad or loader.errors else 0
