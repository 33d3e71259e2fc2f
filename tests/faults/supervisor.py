# SPDX-License-Identifier: Apache-2.0
"""Starts an operator again when it ends, as a Deployment does, but at once."""

import signal
import threading
import time
from typing import Any, Iterable

from tests.kit.operator_process import OperatorProcess


class Supervisor:
    """lives: for each start what GPUPOOL_CRASH says; when they are used up the operator just runs."""

    def __init__(self, process: OperatorProcess, lives: Iterable[str] = (), faults: str = "") -> None:
        self._process, self._lives, self._faults = process, iter(lives), faults
        self._crash = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.started = 0.0  # when the last life began
        self.crashes = []  # those that came, as GPUPOOL_CRASH said them
        self.problems = []
        self.injected = {}  # fault: how often, as far as known

    def __enter__(self) -> "Supervisor":
        self._start()
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()
        if self._process.running():
            self._count_faults()
            self._process.kill()

    def calm(self) -> None:
        """No crash from the next start on."""
        self._lives = iter(())

    def calls(self) -> int:
        return int(self._process.metric("gpupool_faults_calls_total"))

    def show(self) -> str:
        return f"crashes so far: {' '.join(self.crashes)}; faults: {self._faults}\n{self._process.tail()}"

    def _start(self) -> None:
        self._crash = next(self._lives, "")
        self._process.environment = {"GPUPOOL_CRASH": self._crash, "GPUPOOL_FAULTS": self._faults}
        self.started = time.monotonic()
        self._process.start(ready=False)

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            if self._process.running():
                continue
            code = self._process.exit_code()
            if code == -signal.SIGKILL and self._crash:
                self.crashes.append(self._crash)
            else:
                self.problems.append(f"the operator ended by itself with code {code}\n{self._process.tail()}")
            self._start()

    def _count_faults(self) -> None:
        for line in self._process.http("/metrics")[1].splitlines() if self._process.port() else []:
            if line.startswith("gpupool_faults_injected_total{"):
                kind = line.split('"')[1]
                self.injected[kind] = self.injected.get(kind, 0) + int(float(line.rsplit(" ", 1)[1]))
