# SPDX-License-Identifier: Apache-2.0
"""Two operators with leader election, one of which is killed, stopped or paused every few seconds."""

import datetime
import http.client
import random
import signal
import threading
import time
from typing import Any, Callable

from tests.kit.operator_process import OperatorProcess

ELECTION = ["--leader-elect", "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
            "--leader-elect-retry-period=500ms"]
TERM = 3.0  # seconds
LOST = 1  # the exit code of one that has lost the leadership


def leads(process: OperatorProcess) -> bool:
    try:
        return process.port() is not None and process.metric("leader_election_master_status") == 1
    except (OSError, http.client.HTTPException):
        return False  # it is ending


class DisturbedPair:
    """Like Supervisor, for two operators. Pauses are shorter and longer than the term of a leader."""

    def __init__(self, processes: list[OperatorProcess], seed: int, rest: tuple[float, float] = (0.5, 4),
                 recovered: Callable[[], bool] = lambda: True) -> None:
        """rest: seconds between two disturbances, at least and at most; recovered(): whether another one may come."""
        self._processes, self._numbers, self._rest = processes, random.Random(seed), rest
        self._recovered = recovered
        self._stop, self._calm = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.started = 0.0  # when an operator was last disturbed or started again
        self.crashes, self.problems, self.injected = [], [], {}
        self.disturbances = []  # what was done to whom, and when
        self._paused = {}  # process: when it goes on
        self._killed = set()

    def __enter__(self) -> "DisturbedPair":
        for process in self._processes:
            process.start(ready=False)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._stop.set()
        self._thread.join()
        for process in self._processes:
            if process.running():
                process.kill()

    def calm(self) -> None:
        self._calm.set()

    def logs(self) -> list[str]:
        return [process.log_path for process in self._processes]

    def _note(self, what: str, process: OperatorProcess) -> None:
        when = datetime.datetime.now(datetime.timezone.utc).isoformat()
        self.disturbances.append(f"{when} operator {self._processes.index(process) + 1}, process {process.pid}: {what}")

    def show(self) -> str:
        return "\n".join([" ".join(self.crashes), *(process.tail() for process in self._processes)])

    def _watch(self) -> None:
        due = time.monotonic() + 2
        while not self._stop.wait(0.02):
            for process in self._processes:
                self._supervise(process)
            if time.monotonic() > due and not self._calm.is_set() and self._recovered():
                self._disturb()
                due = time.monotonic() + self._numbers.uniform(*self._rest)

    def _supervise(self, process: OperatorProcess) -> None:
        if process in self._paused and (time.monotonic() > self._paused[process] or self._calm.is_set()):
            del self._paused[process]
            process.signal(signal.SIGCONT)
            self._note("goes on", process)
            self.started = time.monotonic()
        if process.running():
            return
        if process.exit_code() != LOST and process not in self._killed:
            self.problems.append(f"the operator ended by itself with code {process.exit_code()}\n{process.tail()}")
        self._killed.discard(process)
        self._note(f"has ended with code {process.exit_code()}", process)
        process.start(ready=False)
        self._note("starts", process)
        self.started = time.monotonic()

    def _victim(self) -> Any:
        """Mostly the leader."""
        free = [p for p in self._processes if p not in self._paused and p not in self._killed and p.running()]
        leaders = [p for p in free if leads(p)]
        return self._numbers.choice(leaders if leaders and self._numbers.random() < 0.8 else free) if free else None

    def _disturb(self) -> None:
        process, how = self._victim(), self._numbers.choice(("kill", "stop", "pause", "pause"))
        if process is None:
            return
        self.started = time.monotonic()
        if how == "pause":
            seconds = self._numbers.uniform(0.3, 5)
            self._paused[process] = time.monotonic() + seconds
            process.signal(signal.SIGSTOP)
            how = "pause, shorter than the term" if seconds < TERM else "pause, longer than the term"
        else:
            self._killed.add(process)
            process.signal(signal.SIGKILL if how == "kill" else signal.SIGTERM)
        self._note(how, process)
        self.crashes.append(how)
        self.injected["operator: " + how] = self.injected.get("operator: " + how, 0) + 1
