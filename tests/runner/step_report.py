# SPDX-License-Identifier: Apache-2.0
"""Counts what passed and failed, step by step."""

import contextlib
import subprocess
import time
from typing import Any, Iterator


class Result:
    """The checks of one step. A step without any check has failed."""

    def __init__(self) -> None:
        self.passed, self.failures = 0, []

    def fail(self, name: str, detail: str = "") -> None:
        self.failures.append(name)
        print(f"FAILED {name}", flush=True)
        if detail.strip():
            print("    " + detail.strip().replace("\n", "\n    "), flush=True)

    def check(self, name: str, ok: Any, detail: str = "") -> None:
        if ok:
            self.passed += 1
        else:
            self.fail(name, detail)


class Report:
    def __init__(self) -> None:
        self._results, self._start = {}, time.monotonic()

    @contextlib.contextmanager
    def step(self, name: str, title: str) -> Iterator[Result]:
        print(f"\n=== {name}: {title}", flush=True)
        result, start = Result(), time.monotonic()
        self._results[name] = result
        try:
            yield result
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            result.fail(f"{name}: {error}")
        if not result.passed and not result.failures:
            result.fail(f"{name}: ran nothing")
        print(f"--- {name}: {result.passed} passed, {len(result.failures)} failed in "
              f"{time.monotonic() - start:.0f} s", flush=True)

    def interrupted(self, reason: str) -> None:
        self._results.setdefault("run", Result()).fail(f"run: interrupted by {reason}")

    def finish(self) -> int:
        """Prints the end of the report; returns the exit code."""
        failures = [name for result in self._results.values() for name in result.failures]
        passed = sum(result.passed for result in self._results.values())
        print(f"\n=== end after {time.monotonic() - self._start:.0f} s")
        for name in failures:
            print(f"failed: {name}")
        print(f"{passed} passed, {len(failures)} failed", flush=True)
        return 1 if failures or not passed else 0
