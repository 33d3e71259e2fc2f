"""Loads tests by name, runs them, and says how many passed in a line that programs can read."""

import os
import sys
import unittest


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
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout, failfast=bool(os.environ.get("FAILFAST"))).run(suite)
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses) + len(result.skipped)
    print(f"RESULT passed={result.testsRun - bad} failed={bad}", flush=True)
    return 1 if bad or loader.errors else 0
