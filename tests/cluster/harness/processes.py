# SPDX-License-Identifier: Apache-2.0
"""Finds and starts processes inside the namespaces of a cluster.

Each cluster and each node is a PID namespace whose process 1 carries a name of ours as argv[0]. So the processes
of a cluster are found from the kernel alone, without PID files that could be stale, and die with their process 1.
"""

import os
import select
import signal
import subprocess
import time
from typing import Any, Callable, Sequence

from tests.cluster.harness.errors import ClusterError


# Shell commands for a new mount and PID namespace. `unshare` could do it, but not in a chroot, where / is no mount:
# entering the namespace once more leads to its true root.
PRIVATE_MOUNTS = "nsenter --mount=/proc/self/ns/mnt mount --make-rprivate / && mount -t proc proc /proc"


def cluster_title(cluster: str) -> str:
    return f"gpupool-cluster:{cluster}"


def node_title(cluster: str, node: str) -> str:
    return f"gpupool-node:{cluster}/{node}"


def keeper_title(cluster: str) -> str:
    return f"gpupool-keeper:{cluster}"


def _read(path: str) -> Any:
    try:
        with open(path, "rb") as source:
            return source.read()
    except OSError:
        return b""


def all_pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def title(pid: int) -> str:
    return _read(f"/proc/{pid}/cmdline").split(b"\0")[0].decode(errors="replace")


def find_init(wanted: str) -> int | None:
    """The process 1, seen from here, of the namespace with this title; None if there is none."""
    return next((pid for pid in all_pids() if title(pid) == wanted and _is_process_one(pid)), None)


def find_keeper(cluster: str) -> int | None:
    wanted = keeper_title(cluster)
    return next((pid for pid in all_pids() if title(pid) == wanted), None)


def identity(pid: int) -> list[Any] | None:
    """The process's PID with its start time: unlike the PID alone, never used again."""
    text = _read(f"/proc/{pid}/stat").decode(errors="replace")
    return [pid, text.rpartition(")")[2].split()[19]] if text else None


def is_running(identified: Sequence[Any]) -> bool:
    return identity(identified[0]) == list(identified)


def _is_process_one(pid: int) -> bool:
    for line in _read(f"/proc/{pid}/status").decode(errors="replace").splitlines():
        if line.startswith("NSpid:"):
            ids = line.split()[1:]
            return len(ids) > 1 and ids[-1] == "1"
    return False


def namespace(pid: int, kind: str = "pid") -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return None


def members(space: str | None) -> list[int]:
    return [pid for pid in all_pids() if namespace(pid) == space]


def is_dying(space: str | None) -> bool:
    """Whether processes are left of a namespace whose process 1 was killed. Its number may be another one's by now."""
    left = members(space)
    return bool(left) and not any(_is_process_one(pid) and title(pid) for pid in left)


def pids_of(init: int, program: str) -> list[int]:
    """Processes of the namespace of `init` that run the program with this file name."""
    return [pid for pid in members(namespace(init)) if os.path.basename(title(pid)) == program]


def inside(init: int, *command: str) -> list[str]:
    """The command line that runs `command` in the mount, network, UTS and PID namespaces of `init`.

    The root is taken over too: in a chroot it is not the root of the mount namespace."""
    return ["nsenter", "-t", str(init), "-m", "-n", "-u", "-p", "-r", "-w", "--", *command]


def run_inside(init: int, *command: str, check: bool = True, **options: Any) -> str:
    done = subprocess.run(inside(init, *command), capture_output=True, text=True, check=False, **options)
    if check and done.returncode != 0:
        raise ClusterError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip() or done.returncode}")
    return done.stdout


def start_inside(init: int, log: str, *command: str, environment: dict[str, str] | None = None) -> None:
    """Starts a daemon whose parent becomes `init`, so nothing of it is left outside. Output is appended to `log`.

    The machine's proxy cannot reach the cluster, so the daemon does not hear of it."""
    inherited = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    with open(log, "ab") as out:
        # The shell ends at once: the daemon is then a child of the namespace's process 1.
        subprocess.run(inside(init, "sh", "-c", 'setsid "$@" </dev/null &', "sh", *command),
                       stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=True,
                       env={**inherited, **(environment or {})})


def kill_and_wait(pid: int, sig: signal.Signals = signal.SIGKILL, timeout: float = 10.0) -> bool:
    """Kills one process and waits until it is gone. False if it was still there after `timeout` seconds."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        signal.pidfd_send_signal(handle, sig)
        return bool(select.select([handle], [], [], timeout)[0])
    except ProcessLookupError:
        return True
    finally:
        os.close(handle)


def wait_for(what: str, condition: Callable[[], Any], timeout: float, interval: float = 0.05) -> Any:
    """Returns the first true value of `condition()`; says what it waited for when `timeout` seconds have passed."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise ClusterError(f"waited {timeout:.0f} s for {what}")
        time.sleep(interval)


def log_tail(path: str, lines: int = 8) -> str:
    return "\n".join(_read(path).decode(errors="replace").splitlines()[-lines:])
