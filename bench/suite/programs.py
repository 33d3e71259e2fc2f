# SPDX-License-Identifier: Apache-2.0
"""The programs that bench/CMakeLists.txt builds, and the operator."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, Iterator, Sequence, TypeVar

from tests.kit.api import Object
from tests.kit.paths import program

TICKS = os.sysconf("SC_CLK_TCK")
_longest = float("inf")


def end_hangs_after(seconds: float) -> None:
    """No call of a program takes longer, whatever limit it has: for tiny runs, whose callers do not wait for hours."""
    global _longest  # pylint: disable=global-statement
    _longest = seconds


def within(limit: float) -> float:
    """This limit, or that of end_hangs_after. In seconds."""
    return min(limit, _longest)


def binary(name: str) -> str:
    path = program(name)
    if not os.access(path, os.X_OK):
        sys.exit(f"bench/run: {path} is missing: cmake --build build --target gpupool-operator gpupool-launch bench")
    return path


def _output_of(process: subprocess.Popen, name: str, beside: "Sequence[Service]", end: float) -> Any:
    while True:
        try:
            return process.communicate(timeout=0.5)[0]
        except subprocess.TimeoutExpired:
            ended = [service for service in beside if not service.running()]
            if ended or time.monotonic() > end:
                raise RuntimeError("\n".join([f"{name} does not come to its end",
                                              *(f"{s.name}: {s.log()[-3000:]}" for s in ended or beside)])) from None


def call(name: str, *arguments: Any, beside: "Sequence[Service]" = (), limit: float = 900) -> Object:
    """What the program prints, decoded. The services beside it have to live on."""
    command = [binary(name), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            output = _output_of(process, name, beside, time.monotonic() + within(limit))
        except BaseException:
            process.kill()  # else the end of the block would wait for it
            raise
    if process.returncode != 0:
        raise RuntimeError("\n".join([f"{' '.join(command)}: exit code {process.returncode}",
                                      *(f"{s.name}: {s.log()[-3000:]}" for s in beside)]))
    return json.loads(output)


def cpu_seconds(pid: int) -> float:
    """Of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS

S = TypeVar("S", bound="Service")


class Service:
    """A program that runs beside a benchmark; as a context manager it has ended after."""

    agent = ""  # how the API server's audit log names it

    def __init__(self, name: str, *arguments: Any) -> None:
        self.name = name
        self._command = [binary(name), *map(str, arguments)]
        self._log = tempfile.NamedTemporaryFile("w+", prefix=f"{name}-", suffix=".log")  # pylint: disable=R1732
        self._running: subprocess.Popen | None = None

    def __enter__(self: S) -> S:
        self._running = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    @property
    def _process(self) -> subprocess.Popen:
        if self._running is None:
            raise RuntimeError(f"{self.name} was not started")
        return self._running

    def wait_until_ready(self) -> None:
        """Nothing to wait for."""

    def __exit__(self, *_: Any) -> None:
        self._process.kill()  # to end in order takes an operator a second, and leaves nothing else behind
        self._process.wait()
        self._log.close()

    def running(self) -> bool:
        return self._process.poll() is None

    def log(self) -> str:
        return Path(self._log.name).read_text(encoding="utf-8", errors="replace")

    def wait_for(self, what: str, probe: Callable[[], Any], limit: float = 60) -> None:
        end = time.monotonic() + within(limit)
        while not probe():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{self.name}: waited for {what}\n{self.log()[-3000:]}")
            time.sleep(0.01)

    def cpu_seconds(self) -> float:
        return cpu_seconds(self._process.pid)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """It sees nothing meanwhile."""
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def forget_peak(self) -> None:
        """VmHWM begins anew."""
        Path(f"/proc/{self._process.pid}/clear_refs").write_text("5", encoding="ascii")

    def memory_mib(self, field: str = "VmRSS") -> float:
        for line in Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        return 0
