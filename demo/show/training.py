# SPDX-License-Identifier: Apache-2.0
"""What the ranks of the training job print, as `kubectl gpupool logs` shows it while they run."""

import re
import threading

from demo.show.kubectl import Kubectl
from tests.kit.api import Object

JOB, RANKS = "ddp-pytorch", 3
COMMAND = ("gpupool", "logs", "-n", "default", "-f", JOB, "--all")
LOSS = re.compile(r"rank (\d+) epoch (\d+) loss ([0-9.]+)")
WEIGHTS = re.compile(r"rank (\d+) final weights SHA256=([0-9a-f]{64})")


class Training:
    """Follows the logs of all ranks from attempt to attempt. What a later attempt prints counts."""

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl, self._stopped = kubectl, threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._lines, self._losses, self._weights = [], {}, {}

    def look_at(self, jobs: dict[str, Object]) -> None:
        """Starts to follow once the job exists."""
        if JOB in jobs and self._thread is None:
            self._thread = threading.Thread(target=self._follow, daemon=True)
            self._thread.start()

    def finish(self) -> tuple[list[str], list[float], dict[int, str]]:
        """All lines, the losses of rank 0 by epoch, and each rank's digest of its final weights."""
        if self._thread:
            self._thread.join(10)  # the command ends with the job
        self.stop()
        with self._lock:
            return (list(self._lines), [loss for _, loss in sorted(self._losses.items())],
                    dict(sorted(self._weights.items())))

    def stop(self) -> None:
        self._stopped.set()

    def _follow(self) -> None:
        with self._kubectl.stream(*COMMAND) as stream:
            for line in stream.stdout or []:
                if self._stopped.is_set():
                    stream.terminate()
                    return
                self._take(line.rstrip("\n"))

    def _take(self, line: str) -> None:
        with self._lock:
            self._lines.append(line)
            if found := LOSS.search(line):
                if found[1] == "0":
                    self._losses[int(found[2])] = float(found[3])
            elif found := WEIGHTS.search(line):
                self._weights[int(found[1])] = found[2]
