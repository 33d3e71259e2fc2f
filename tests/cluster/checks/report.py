"""Counts checks and prints a line for each."""

import subprocess
import time

LIMIT = 300  # seconds


class Report:
    def __init__(self):
        self.passed, self.failed, self._start = 0, 0, time.monotonic()

    def check(self, text, ok, detail=""):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        print(f"{'ok  ' if ok else 'FAIL'} {time.monotonic() - self._start:6.1f} s  {text}", flush=True)
        if not ok and detail:
            print("     " + str(detail).strip().replace("\n", "\n     "), flush=True)
        return bool(ok)

    def eventually(self, text, condition):
        """`condition` returns (ok, detail). The limit is there for hangs only."""
        end = time.monotonic() + LIMIT
        while True:
            ok, detail = condition()
            if ok or time.monotonic() > end:
                return self.check(text, ok, detail)
            time.sleep(0.1)


def run(*command, stdin=None, timeout=120):
    """(exit code, output of both streams)."""
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=timeout, check=False)
    return done.returncode, done.stdout
