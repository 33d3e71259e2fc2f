"""Waiting for the cluster, with a limit that is only there for hangs."""

import time

POLL = 0.1
LIMIT = 150.0


def wait_for(what, probe, limit=LIMIT, detail=None):
    """The first true value of probe(). detail() is added to the failure; what says what was waited for."""
    end = time.monotonic() + limit
    while True:
        value = probe()
        if value:
            return value
        if time.monotonic() > end:
            more = f"\n{detail()}" if detail else ""
            raise AssertionError(f"waited {limit:.0f} s for {what}{more}")
        time.sleep(POLL)


def holds_for(what, probe, seconds):
    """probe() stays true for so long: for things that must not happen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not probe():
            raise AssertionError(f"did not stay true for {seconds} s: {what}")
        time.sleep(POLL)
