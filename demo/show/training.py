# SPDX-License-Identifier: Apache-2.0
"""What the ranks of the training job print, read while they run."""

import re
import threading

from demo.show.kubectl import Kubectl
from tests.kit.api import Object

JOB, CONTAINER, RANKS = "ddp-pytorch", "worker", 3
LOSS = re.compile(r"rank (\d+) epoch (\d+) loss ([0-9.]+)")
WEIGHTS = re.compile(r"rank (\d+) final weights SHA256=([0-9a-f]{64})")


class Training:
    """Follows the logs of all ranks of the newest attempt."""

    def __init__(self, kubectl: Kubectl) -> None:
        self._kubectl, self._stopped = kubectl, threading.Event()
        self._lock, self._threads = threading.Lock(), []
        self._lease = ""
        self._losses, self._weights = {}, {}

    def look_at(self, jobs: dict[str, Object]) -> None:
        """Starts to follow an attempt once its workers exist."""
        lease = jobs.get(JOB, {}).get("status", {}).get("lease") or {}
        if lease.get("state") != "Running" or lease["id"] == self._lease:
            return
        with self._lock:
            self._lease, self._losses, self._weights = lease["id"], {}, {}
        children = f"{JOB}-{self._lease.rpartition('.')[2]}"
        for rank in range(RANKS):
            thread = threading.Thread(target=self._follow, args=(self._lease, f"{children}-{rank}"), daemon=True)
            thread.start()
            self._threads.append(thread)

    def finish(self) -> tuple[list[float], dict[int, str]]:
        """The losses of rank 0 by epoch, and each rank's digest of its final weights."""
        for thread in self._threads:
            thread.join(5)
        self._stopped.set()
        with self._lock:
            return [loss for _, loss in sorted(self._losses.items())], dict(sorted(self._weights.items()))

    def stop(self) -> None:
        self._stopped.set()

    def _follow(self, lease: str, pod: str) -> None:
        while not self._stopped.wait(0.2) and self._lease == lease:
            # Refused until the container has started; once it has, this returns when the container ends.
            with self._kubectl.stream("logs", "-n", "default", "-f", pod, "-c", CONTAINER) as stream:
                lines = sum(self._take(lease, line) for line in stream.stdout or [])
            if lines:
                return

    def _take(self, lease: str, line: str) -> int:
        with self._lock:
            if lease != self._lease:
                return 0
            if found := LOSS.search(line):
                if found[1] == "0":
                    self._losses[int(found[2])] = float(found[3])
            elif found := WEIGHTS.search(line):
                self._weights[int(found[1])] = found[2]
        return 1
