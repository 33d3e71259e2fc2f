# SPDX-License-Identifier: Apache-2.0
"""Counts what a run has tried and what failed."""

import collections
import re
import sys
import threading
from typing import Any, Mapping

RUNS = "runs that ended as without faults"
RULES = ("ends as without faults", "all that is left is marked for deletion within 5 s")


class Report:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.counts = collections.Counter()
        self.injected = collections.Counter()  # fault: how often
        self.points = collections.Counter()  # scenario: crash points
        self.rules = collections.Counter()  # invariant: how often it was checked
        self.violations = collections.Counter()
        self.slowest_mark = 0.0
        self.failures = []

    def passed(self, what: str, count: int = 1) -> None:
        with self._lock:
            self.counts[what] += count

    def checked(self, rule: str, count: int = 1) -> None:
        with self._lock:
            self.rules[rule] += count

    def violated(self, rule: str) -> None:
        with self._lock:
            self.violations[rule] += 1

    def failed(self, what: str, why: str) -> None:
        """what is enough to do it again."""
        with self._lock:
            self.failures.append((what, _first_reason(why)))
        print(f"FAILED {what}\n{why}\n", file=sys.stderr, flush=True)

    def add(self, supervisor: Any, worlds: list) -> None:
        with self._lock:
            self.counts["crashes"] += len(supervisor.crashes)
            self.injected.update(supervisor.injected)
            self.slowest_mark = max([self.slowest_mark, *(world.slowest_mark for world in worlds)])

    def print(self, seconds: float) -> int:
        passed = sum(self.counts.values()) - self.counts["crashes"]
        print(f"\n{seconds:.0f} s")
        _table("", self.counts)
        if self.points:
            _table(f"crash points: {sum(self.points.values())} in all", self.points)
        if self.injected:
            _table("what was done to it", self.injected)
        rules = {rule: f"{count:8}   violated {self.violations[rule]}" for rule, count in self.rules.items()}
        if rules:
            _table("invariants checked", rules)
        print(f"at most {self.slowest_mark:.1f} s until all that was left of a job was marked for deletion")
        for again, why in self.failures:
            print(f"FAILED tests/faults/run {again}\n    {why}")
        print(f"RESULT passed={passed} failed={len(self.failures)}", flush=True)
        return 1 if self.failures or not passed else 0


def _first_reason(why: str) -> str:
    """One line: the error of the first traceback, or the first line."""
    return next(iter(re.findall(r"^\w[\w.]*(?:Error|Exception)\b.*", why, re.M) or why.strip().splitlines()), "")


def _table(title: str, counts: Mapping[str, Any]) -> None:
    print(title, end="\n" if title else "")
    for name, count in sorted(counts.items()):
        print(f"  {count:>8} {name}" if isinstance(count, int) else f"  {count} {name}")
