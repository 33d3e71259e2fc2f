"""What a run has tried and found."""

import collections
import sys
import threading

RUNS = "runs that ended as without faults"
RULES = ("ends as without faults", "all that is left is marked for deletion within 5 s")


class Report:
    def __init__(self):
        self._lock = threading.Lock()
        self.counts = collections.Counter()
        self.injected = collections.Counter()  # fault: how often
        self.points = collections.Counter()  # scenario: crash points
        self.rules = collections.Counter()  # invariant: how often it was checked
        self.violations = collections.Counter()
        self.slowest_mark = 0.0
        self.failures = []

    def passed(self, what, count=1):
        with self._lock:
            self.counts[what] += count

    def checked(self, rule, count=1):
        with self._lock:
            self.rules[rule] += count

    def violated(self, rule):
        with self._lock:
            self.violations[rule] += 1

    def failed(self, what, why):
        """what is enough to do it again."""
        with self._lock:
            self.failures.append(what)
        print(f"FAILED {what}\n{why}\n", file=sys.stderr, flush=True)

    def add(self, supervisor, worlds):
        with self._lock:
            self.counts["crashes"] += len(supervisor.crashes)
            self.injected.update(supervisor.injected)
            self.slowest_mark = max([self.slowest_mark, *(world.slowest_mark for world in worlds)])

    def print(self, seconds):
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
        for again in self.failures:
            print(f"FAILED tests/faults/run {again}")
        print(f"RESULT passed={passed} failed={len(self.failures)}", flush=True)
        return 1 if self.failures or not passed else 0


def _table(title, counts):
    print(title, end="\n" if title else "")
    for name, count in sorted(counts.items()):
        print(f"  {count:>8} {name}" if isinstance(count, int) else f"  {count} {name}")
