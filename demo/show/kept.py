# SPDX-License-Identifier: Apache-2.0
"""Processes that KEEP=1 leaves, found again by a file with their number."""

import os
import signal
import time

STOP_TIMEOUT = 12  # seconds; the operator promises 10


def note(path: str, pid: int) -> None:
    with open(path, "w", encoding="ascii") as out:
        out.write(str(pid))


def stop(path: str, program: str) -> None:
    """Stops the process in the file, if it is still this program."""
    try:
        with open(path, encoding="ascii") as source:
            pid = int(source.read())
        with open(f"/proc/{pid}/cmdline", "rb") as source:
            command = source.read().split(b"\0")
    except (OSError, ValueError):
        return
    if not command[0].endswith(program.encode()):
        return
    end = time.monotonic() + STOP_TIMEOUT
    os.kill(pid, signal.SIGTERM)
    while os.path.exists(f"/proc/{pid}"):
        if time.monotonic() > end:
            os.kill(pid, signal.SIGKILL)
            return
        time.sleep(0.1)
