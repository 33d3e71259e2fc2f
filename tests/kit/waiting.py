# SPDX-License-Identifier: Apache-2.0
"""Waits for conditions in the cluster. The limits are only for hangs."""

import time
from typing import Any, Callable

FIRST_POLL, POLL = 0.02, 0.1  # seconds between two looks: in the beginning, and after a while
LIMIT = 300.0


def pause(waited: float) -> float:
    """How long to wait before the next look, after so many seconds. Most of what tests wait for comes in a moment."""
    return min(POLL, FIRST_POLL + waited / 20)


def wait_for(what: str, probe: Callable[[], Any], limit: float = LIMIT,
             detail: Callable[[], str] | None = None) -> Any:
    """The first true value of probe(). detail() is added to the failure; what says what was waited for."""
    begin = time.monotonic()
    while True:
        value = probe()
        if value:
            return value
        waited = time.monotonic() - begin
        if waited > limit:
            more = f"\n{detail()}" if detail else ""
            raise AssertionError(f"waited {limit:.0f} s for {what}{more}")
        time.sleep(pause(waited))


def holds_for(what: str, probe: Callable[[], Any], seconds: float) -> None:
    """probe() stays true for so long: for things that must not happen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not probe():
            raise AssertionError(f"did not stay true for {seconds} s: {what}")
        time.sleep(POLL)
