"""Two operators with leader election, one of which is killed or paused every few seconds."""

import random
import signal
import threading
import time

ELECTION = ["--leader-elect", "--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s",
            "--leader-elect-retry-period=500ms"]
LOST = 1  # the exit code of one that has lost the leadership


class Duel:
    """As a Supervisor, for a pair. Pauses are shorter and longer than a term."""

    def __init__(self, processes, seed):
        self._processes, self._numbers = processes, random.Random(seed)
        self._stop, self._calm = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.started = 0.0  # when somebody was last hurt or came back
        self.crashes, self.problems, self.injected = [], [], {}
        self._paused = {}  # process: when it goes on
        self._killed = set()

    def __enter__(self):
        for process in self._processes:
            process.start(ready=False)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join()
        for process in self._processes:
            if process.running():
                process.kill()

    def calm(self):
        self._calm.set()

    def show(self):
        return "\n".join([" ".join(self.crashes), *(process.tail() for process in self._processes)])

    def _watch(self):
        strike = time.monotonic() + 2
        while not self._stop.wait(0.02):
            for process in self._processes:
                self._tend(process)
            if time.monotonic() > strike and not self._calm.is_set():
                self._strike()
                strike = time.monotonic() + self._numbers.uniform(0.5, 4)

    def _tend(self, process):
        if process in self._paused and (time.monotonic() > self._paused[process] or self._calm.is_set()):
            del self._paused[process]
            process.signal(signal.SIGCONT)
            self.started = time.monotonic()
        if process.running():
            return
        if process.exit_code() != LOST and process not in self._killed:
            self.problems.append(f"the operator ended by itself with code {process.exit_code()}\n{process.tail()}")
        self._killed.discard(process)
        process.start(ready=False)
        self.started = time.monotonic()

    def _strike(self):
        process = self._numbers.choice(self._processes)
        if process in self._paused or not process.running():
            return
        self.started = time.monotonic()
        if self._numbers.random() < 0.5:
            self._killed.add(process)
            process.signal(signal.SIGKILL)
            self.crashes.append("kill")
        else:
            seconds = self._numbers.uniform(0.3, 5)
            self._paused[process] = time.monotonic() + seconds
            process.signal(signal.SIGSTOP)
            self.crashes.append(f"pause of {seconds:.1f} s")
