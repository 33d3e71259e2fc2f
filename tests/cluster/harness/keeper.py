# SPDX-License-Identifier: Apache-2.0
"""The process outside a cluster that holds it and cleans up after it.

Everything of a cluster runs below one child of the keeper, in a PID namespace. The child dies with the keeper, and
the keeper removes the cluster when its owner or a starter that has not finished dies, or when the child dies.

  keeper.py NAME STARTER_PID OWNER_PID|0
"""

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(next(p for p in Path(__file__).resolve().parents if (p / "CMakePresets.json").exists()))

from tests.cluster.harness import processes, teardown  # noqa: E402
from tests.cluster.harness.state import State  # noqa: E402


def watch(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None


def start_init(name: str) -> subprocess.Popen:
    # Ignoring SIGCHLD makes the kernel reap what is orphaned in the namespace.
    script = processes.PRIVATE_MOUNTS + ' && trap "" CHLD && exec -a "$0" sleep infinity'
    return subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL",
         "unshare", "--pid", "--fork", "--kill-child=KILL", "--net", "--uts", "--mount", "--propagation",
         "unchanged", "bash", "-c", script, processes.cluster_title(name)])


def main() -> None:
    name, starter, owner = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    state = State(name)
    stop_read, stop_write = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(stop_write, b"x"))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    starter_handle = watch(starter)
    owner_handle = watch(owner) if owner else None
    if starter_handle is None or (owner and owner_handle is None):
        teardown.remove(state)
        return
    holder = start_init(name)
    holder_handle = os.pidfd_open(holder.pid)
    watched = {stop_read, starter_handle, holder_handle} | ({owner_handle} if owner else set())
    while True:
        ready = set(select.select(list(watched), [], [])[0])
        if starter_handle in ready and state.facts().get("ready"):
            watched.discard(starter_handle)
            ready.discard(starter_handle)
        if ready:
            break
    teardown.remove(state)


main()
