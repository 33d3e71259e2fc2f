# SPDX-License-Identifier: Apache-2.0
"""Counts checks and prints a line for each, for programs that check one sequence of events."""

import time
from typing import Any, Callable

LIMIT = 300  # seconds


class Checks:
    def __init__(self) -> None:
        self.passed, self.failed, self._start = 0, 0, time.monotonic()

    def check(self, text: str, ok: Any, detail: Any = "") -> bool:
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        print(f"{'ok  ' if ok else 'FAIL'} {time.monotonic() - self._start:6.1f} s  {text}", flush=True)
        if not ok and detail:
            print("     " + str(detail).strip().replace("\n", "\n     "), flush=True)
        return bool(ok)

    def eventually(self, text: str, condition: Callable[[], tuple[Any, Any]]) -> bool:
        """`condition` returns (ok, detail). The limit is there for hangs only."""
        end = time.monotonic() + LIMIT
        while True:
            ok, detail = condition()
            if ok or time.monotonic() > end:
                return self.check(text, ok, detail)
            time.sleep(0.1)

    def finish(self) -> int:
        """Prints the count; returns the exit code."""
        print(f"{self.passed} checks passed, {self.failed} failed")
        return 1 if self.failed else 0
