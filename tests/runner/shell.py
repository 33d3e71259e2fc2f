# SPDX-License-Identifier: Apache-2.0
"""Runs programs: each in a process group of its own, with a time limit, leaving a log."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, Mapping, Sequence

from tests.kit.paths import LOGS, ROOT

STOP_LIMIT = 60  # seconds for a program to clean up after SIGTERM


def prepare_environment() -> None:
    """Debian's tools come first, and a clone in another folder finds what was compiled in this one."""
    os.chdir(ROOT)
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ.get("PATH", "")
    os.environ.update(CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR="1", PYTHONDONTWRITEBYTECODE="1",
                      CTEST_COLOR_OUTPUT="0", CLICOLOR="0",
                      GOGC="400")  # servers of Kubernetes spend a seventh of their time on their memory otherwise
    # Settings of whoever starts us would choose which tests run, or where.
    for name in ("TEST_KUBECONFIG", "KUBECONFIG", "KUBECTL", "KEEP", "E2E_CLUSTER", "FAILFAST", "BUILD_DIR",
                 "GPUPOOL_SANITIZE", "GTEST_FILTER", "GTEST_REPEAT", "GTEST_TOTAL_SHARDS"):
        os.environ.pop(name, None)


class Done:
    def __init__(self, code: int, output: str) -> None:
        self.code, self.output = code, output

    def tail(self, lines: int = 60) -> str:
        return "\n".join(self.output.splitlines()[-lines:])


class Running:
    """A program that was started, and what it has printed."""

    def __init__(self, log: str, command: Sequence[Any], env: dict[str, str]) -> None:
        LOGS.mkdir(parents=True, exist_ok=True)
        self.path = LOGS / f"{log}.log"
        with open(self.path, "w", encoding="utf-8") as output:
            self.name = Path(str(command[0])).name
            self.process = subprocess.Popen(
                [str(word) for word in command], cwd=ROOT, env={**os.environ, **env},
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self._reader = open(self.path, encoding="utf-8", errors="replace")  # pylint: disable=consider-using-with
        self._part = ""

    def print_news(self, whole_lines: bool) -> None:
        """With whole lines, several programs can share a terminal."""
        text = self._part + self._reader.read()
        cut = text.rfind("\n") + 1 if whole_lines and self.process.poll() is None else len(text)
        self._part = text[cut:]
        sys.stdout.write(text[:cut])
        sys.stdout.flush()

    def done(self) -> Done:
        self._reader.close()
        return Done(self.process.returncode, self.path.read_text(encoding="utf-8", errors="replace"))

    def send(self, number: int) -> None:
        """A signal to its whole group, if any of it is left."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def stop(self) -> None:
        """SIGTERM lets it remove what it made; whoever of its group is left then is killed."""
        self.send(signal.SIGTERM)
        self.send(signal.SIGCONT)  # it may be paused
        try:
            self.process.wait(timeout=STOP_LIMIT)
        except subprocess.TimeoutExpired:
            pass
        self.send(signal.SIGKILL)
        self.process.wait()


class Interrupted(Exception):
    """Another thread has interrupted what this one was waiting for."""


class Shell:
    def __init__(self, whole_lines: bool = False) -> None:
        """whole_lines: something else prints on the same terminal."""
        self._whole_lines, self._interrupted, self._paused = whole_lines, threading.Event(), threading.Event()

    def interrupt(self) -> None:
        """From another thread: what runs is stopped, and nothing else begins."""
        self._interrupted.set()

    def pause(self, paused: bool) -> None:
        """From another thread: within 0.5 s what runs is stopped, until pause(False) lets it go on."""
        (self._paused.set if paused else self._paused.clear)()

    def run(self, log: str, *command: Any, env: dict[str, str] | None = None, limit: float = 1800,
            show: bool = False) -> Done:
        """Runs to the end; both streams go to build/logs/LOG.log, and with `show` to the terminal too."""
        return self.run_together({log: command}, {log: env or {}}, limit, show)[log]

    def run_together(self, commands: Mapping[str, Sequence[Any]], env: Mapping[str, dict[str, str]],
                     limit: float = 1800,
                     show: bool = False) -> dict[str, Done]:
        """The same for several programs at once: command, environment and result of each, by log."""
        running: dict[str, Running] = {}
        try:
            for log, command in commands.items():
                running[log] = Running(log, command, env[log])
            self._wait(list(running.values()), limit, show)
        except BaseException:
            for program in running.values():
                program.stop()
            raise
        return {log: program.done() for log, program in running.items()}

    def _wait(self, running: list[Running], limit: float, show: bool) -> None:
        end, paused = time.monotonic() + limit, False
        while True:
            if paused != self._paused.is_set():
                paused = not paused
                for program in running:
                    program.send(signal.SIGSTOP if paused else signal.SIGCONT)
            left = [program for program in running if program.process.poll() is None]
            if left:
                try:
                    left[0].process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    pass
            if show:
                for program in running:
                    program.print_news(self._whole_lines or len(running) > 1)
            if not left:
                return
            if self._interrupted.is_set():
                raise Interrupted
            if time.monotonic() > end:
                raise RuntimeError(f"{left[0].name} did not end within {limit} s, see {left[0].path}")
