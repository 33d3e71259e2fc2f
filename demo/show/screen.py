# SPDX-License-Identifier: Apache-2.0
"""One line per job and GPU: redrawn in place on a terminal, else one line for each change of a job."""

import os
import shutil
import sys
import time
from typing import Any, Sequence, TextIO

from tests.kit.api import Object

MAX_MESSAGE = 160  # also where the width of a terminal does not cut it
COLOURS = {"Succeeded": "32", "Running": "36", "Failed": "31", "Invalid": "31", "Queued": "33"}


class Screen:
    def __init__(self, names: list[str], out: TextIO = sys.stdout) -> None:
        self._names, self._out, self._start = names, out, time.monotonic()
        self._in_place = out.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        self._colours = self._in_place and "NO_COLOR" not in os.environ
        self._drawn = 0
        self._last = {}

    def show(self, jobs: dict[str, Object], picture: Sequence[str] = ()) -> None:
        """picture: lines below those of the jobs, for a terminal."""
        if self._in_place:
            self._redraw(jobs, picture)
            return
        for name in self._names:
            line = _describe(name, jobs.get(name))
            if self._last.get(name) != line and name in jobs:
                self._last[name] = line
                self._write(f"{self._elapsed()} {line}\n")

    def say(self, text: str) -> None:
        """A message above the lines of the jobs; they are drawn again below it by the next show()."""
        if self._drawn:
            self._write(f"\x1b[{self._drawn}A\x1b[J")
            self._drawn = 0
        self._write(f"{self._elapsed()} {text}\n")

    def _redraw(self, jobs: dict[str, Object], picture: Sequence[str]) -> None:
        width = shutil.get_terminal_size().columns
        rows = [_describe(name, jobs.get(name)) for name in self._names]
        rows += [*picture, f"{self._elapsed()}"]
        text = f"\x1b[{self._drawn}A" if self._drawn else ""
        for number, row in enumerate(rows):
            job = jobs.get(self._names[number]) if number < len(self._names) else None
            text += self._paint(row[:width - 1], job) + "\x1b[K\n"
        self._drawn = max(self._drawn, len(rows))
        text += "\x1b[K\n" * (self._drawn - len(rows))
        self._write(text)

    def _paint(self, row: str, job: Object | None) -> Any:
        colour = COLOURS.get((job or {}).get("status", {}).get("phase"))
        return f"\x1b[{colour}m{row}\x1b[0m" if colour and self._colours else row

    def _elapsed(self) -> str:
        return f"{time.monotonic() - self._start:6.1f} s "

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def _describe(name: str, job: Object | None) -> str:
    if job is None:
        return f"{name:<20}"
    status, spec = job.get("status", {}), job["spec"]
    attempts = status.get("attempts", 0)
    attempt = f"{attempts} attempt{'s' if attempts > 1 else ''}" if attempts else ""
    nodes = status.get("nodeNames", "")
    message = " ".join(status.get("message", "").split())[:MAX_MESSAGE]
    return (f"{name:<19} {spec.get('gpus', 1):>4} GPU  {status.get('phase', '-'):<10} {nodes:<8} {attempt:<10} "
            f"{status.get('reason', '')}{': ' if message else ''}{message}")
