# SPDX-License-Identifier: Apache-2.0
"""What gpupool-launch adds to a command: time to start and end, and memory."""

import contextlib
import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench.suite.programs import binary
from bench.suite.results import Results

WAIT_LIMIT = 10


def _milliseconds(command: list[str]) -> Any:
    began = time.perf_counter()
    _, status = os.waitpid(os.posix_spawn(command[0], command, os.environ), 0)
    spent = (time.perf_counter() - began) * 1e3
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: status {status}")
    return spent


def _wrapped(folder: str, name: str, *command: str) -> list[Any]:
    """Each worker has a state of its own; a second start would not run the command."""
    state = os.path.join(folder, name)
    os.mkdir(state)
    return [binary("gpupool-launch"), "run", "--state-dir", state, "--termination-log", os.path.join(state, "log"), "--",
            *command]


def _sync_milliseconds(folder: str, name: str) -> float:
    """What nobody is spared who must not run a command twice: a name and then a file that outlive the power."""
    state = os.path.join(folder, name)
    os.mkdir(state)
    result = os.open(os.path.join(state, "result"), os.O_WRONLY | os.O_CREAT)
    directory = os.open(state, os.O_RDONLY)
    try:
        began = time.perf_counter()
        os.close(os.open(os.path.join(state, "mark"), os.O_WRONLY | os.O_CREAT))
        os.fsync(directory)
        os.write(result, b"{}")
        os.fdatasync(result)
        return (time.perf_counter() - began) * 1e3
    finally:
        os.close(result)
        os.close(directory)


def _memory_kib(command: list[str]) -> Any:
    """Of the launcher alone, while its command runs."""
    pid = os.posix_spawn(command[0], command, os.environ)
    children = Path(f"/proc/{pid}/task/{pid}/children")
    end = time.monotonic() + WAIT_LIMIT
    while not children.read_text(encoding="ascii") and time.monotonic() < end:
        time.sleep(0.01)
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    os.kill(pid, signal.SIGTERM)
    killer = threading.Timer(WAIT_LIMIT, os.kill, (pid, signal.SIGKILL))
    killer.start()
    os.waitpid(pid, 0)
    killer.cancel()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def _quantile(values: list[float], part: float) -> Any:
    return sorted(values)[round(part * (len(values) - 1))]


def measure(results: Results, starts: int) -> None:
    """Bare and wrapped take turns, so that what else the machine does meets all of them."""
    folders = {"disk": "/var/tmp", "memory": "/dev/shm"}  # an emptyDir is on the node's disk: mark and result are synced
    times: dict[str, list[float]] = {"bare": [], "syncs": [], **{medium: [] for medium in folders}}
    shown = {"bare": "/bin/true", "syncs": "a name and a file synced, on disk"}
    with contextlib.ExitStack() as stack:
        for medium, parent in folders.items():
            folders[medium] = stack.enter_context(tempfile.TemporaryDirectory(prefix="gpupool-bench-", dir=parent))
        for i in range(starts):
            times["bare"].append(_milliseconds(["/bin/true"]))
            times["syncs"].append(_sync_milliseconds(folders["disk"], f"{i}-syncs"))
            for medium, folder in folders.items():
                times[medium].append(_milliseconds(_wrapped(folder, str(i), "/bin/true")))
        for name, values in times.items():
            results.add("launcher", shown.get(name, f"/bin/true in gpupool-launch, state on {name}"),
                        _quantile(values, 0.5), "ms", p99=_quantile(values, 0.99))
        results.add("launcher", "the same, fastest tenth", _quantile(times["syncs"], 0.1), "ms")
        for medium in folders:
            added = _quantile(times[medium], 0.1) - _quantile(times["bare"], 0.1)  # others only make it slower
            results.add("launcher", f"added, fastest tenth, state on {medium}", added, "ms")
        memory = _memory_kib(_wrapped(folders["memory"], "m", "/bin/sleep", "60"))
        results.add("launcher", "memory of gpupool-launch", memory, "KiB")
