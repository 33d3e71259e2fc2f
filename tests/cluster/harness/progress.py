# SPDX-License-Identifier: Apache-2.0
import sys
import time


class Progress:
    """Prints each step as it ends with the seconds since the start."""

    def __init__(self, cluster: str) -> None:
        self._cluster, self._start = cluster, time.monotonic()

    def step(self, text: str) -> None:
        print(f"{time.monotonic() - self._start:6.1f} s  {self._cluster}: {text}", file=sys.stderr, flush=True)
