# SPDX-License-Identifier: Apache-2.0
"""SIGTERM and SIGINT end this program by an exception, so that what has begun is undone.

Python drops an exception that a signal handler raises while an object is finalized (`__del__`, weak references). So the
signal is remembered, and whoever has finished something that must not stay calls check()."""

import signal
import sys
from typing import Any

_received: list[int] = []


def _end(number: int, _frame: Any) -> None:
    _received.append(number)
    sys.exit(128 + number)


def install() -> None:
    """A signal that the caller had this program ignore stays ignored."""
    for number in (signal.SIGTERM, signal.SIGINT):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _end)


def check() -> None:
    """Raises SystemExit if a signal has come."""
    if _received:
        sys.exit(128 + _received[0])
