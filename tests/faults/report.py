"""What a run has tried and found."""

import collections
import sys
import threading


class Report:
    def __init__(self):
        self._lock = threading.Lock()
        self.counts = collections.Counter()
        self.injected = collections.Counter()
        self.slowest_mark = 0.0
        self.failures = []

    def passed(self, what):
        with self._lock:
            self.counts[what] += 1

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

    def print(self, seconds, kubelet):
        print(f"\n{seconds:.0f} s, {len(kubelet.runs)} worker commands run, each once per attempt")
        for name, count in sorted(self.counts.items()):
            print(f"  {count:6} {name}")
        for kind, count in sorted(self.injected.items()):
            print(f"  {count:6} faults: {kind}")
        print(f"  {self.slowest_mark:6.1f} s at most until all that was left of a job was marked for deletion")
        print(f"RESULT passed={self.counts['runs that ended as without faults']} failed={len(self.failures)}", flush=True)
        return 1 if self.failures or not self.counts["runs that ended as without faults"] else 0
