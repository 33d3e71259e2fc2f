"""What gpupool-launch adds to a command: time to start and end, and memory."""

import os
import tempfile
import time
from pathlib import Path

from suite.programs import binary

WAIT_LIMIT = 10


def _milliseconds(command):
    began = time.perf_counter()
    _, status = os.waitpid(os.posix_spawn(command[0], command, os.environ), 0)
    spent = (time.perf_counter() - began) * 1e3
    if status != 0:
        raise RuntimeError(f"{' '.join(command)}: status {status}")
    return spent


def _wrapped(folder, name, *command):
    """Each worker has a state of its own; a second start would not run the command."""
    state = os.path.join(folder, name)
    os.mkdir(state)
    return [binary("gpupool-launch"), "run", "--state-dir", state, "--termination-log", os.path.join(state, "log"), "--",
            *command]


def _memory_kib(command):
    """Of the launcher alone, while its command runs."""
    pid = os.posix_spawn(command[0], command, os.environ)
    children = Path(f"/proc/{pid}/task/{pid}/children")
    end = time.monotonic() + WAIT_LIMIT
    while not children.read_text(encoding="ascii") and time.monotonic() < end:
        time.sleep(0.01)
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    os.kill(pid, 15)
    os.waitpid(pid, 0)
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))


def _quantile(values, part):
    return sorted(values)[round(part * (len(values) - 1))]


def measure(results, starts):
    """Bare and wrapped take turns, so that what else the machine does meets both."""
    with tempfile.TemporaryDirectory(prefix="gpupool-bench-") as folder:
        bare, wrapped = [], []
        for i in range(starts):
            bare.append(_milliseconds(["/bin/true"]))
            wrapped.append(_milliseconds(_wrapped(folder, str(i), "/bin/true")))
        for name, values in (("/bin/true", bare), ("/bin/true in gpupool-launch", wrapped)):
            results.add("launcher", name, _quantile(values, 0.5), "ms", p99=_quantile(values, 0.99))
        results.add("launcher", "added by gpupool-launch", _quantile(wrapped, 0.5) - _quantile(bare, 0.5), "ms")
        results.add("launcher", "memory of gpupool-launch", _memory_kib(_wrapped(folder, "m", "/bin/sleep", "60")), "KiB")
