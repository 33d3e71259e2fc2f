# SPDX-License-Identifier: Apache-2.0
"""Ends, pauses and starts again the servers of a running cluster; takes etcd back in time, and fills it."""

import json
import os
import shutil
import signal
import subprocess
from typing import Any

from tests.cluster.harness import control_plane, processes
from tests.cluster.harness.api import Api
from tests.cluster.harness.errors import ClusterError
from tests.cluster.harness.state import State

# In the order in which they start.
PARTS = ["etcd", "apiserver", "controller-manager", "scheduler"]
FILLER = "/filler/"


def _init(state: State) -> Any:
    init = processes.find_init(processes.cluster_title(state.name))
    if init is None:
        raise ClusterError(f"cluster {state.name} does not run")
    return init


def _command(state: State, part: str) -> Any:
    try:
        return state.facts()["commands"][part]
    except KeyError:
        raise ClusterError(f"cluster {state.name} has no {part}") from None


def _pids(state: State, part: str) -> Any:
    return processes.pids_of(_init(state), os.path.basename(_command(state, part)[0]))


def stop(state: State, part: str) -> None:
    """Kills it: no connection is closed in order. Twice is harmless."""
    for pid in _pids(state, part):
        if not processes.kill_and_wait(pid):
            raise ClusterError(f"{part} did not end")


def start(state: State, part: str) -> None:
    """Starts it again, and waits until it works."""
    if _pids(state, part):
        raise ClusterError(f"{part} runs already")
    processes.start_inside(_init(state), state.path("log", part), *_command(state, part))
    if part == "etcd":
        processes.wait_for("etcd", lambda: _etcd_works(state), 30)
    if part == "apiserver":
        control_plane.wait_ready(state, Api(state))


def pause(state: State, part: str) -> None:
    for pid in _pids(state, part):
        os.kill(pid, signal.SIGSTOP)


def resume(state: State, part: str) -> None:
    for pid in _pids(state, part):
        os.kill(pid, signal.SIGCONT)


def _etcdctl(state: State, *arguments: str, **options: Any) -> Any:
    program = shutil.which("etcdctl")
    if program is None:
        raise ClusterError("etcdctl is missing: the package etcd-client has it")
    command = processes.inside(_init(state), "env", "ETCDCTL_API=3", program, *arguments)
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def _must(done: subprocess.CompletedProcess) -> Any:
    if done.returncode != 0:
        raise ClusterError(f"etcdctl: {done.stderr.strip()}")
    return done.stdout


def _etcd_works(state: State) -> bool:
    return _etcdctl(state, "get", "/", "--limit=1").returncode == 0


def save(state: State, path: str) -> None:
    _must(_etcdctl(state, "snapshot", "save", path))


def restore(state: State, path: str) -> None:
    """As the documentation of Kubernetes says: every server is ended before, and started after."""
    parts = [part for part in PARTS if part in state.facts().get("commands", {})]
    for part in reversed(parts):
        stop(state, part)
    shutil.rmtree(state.path("etcd"))
    _must(_etcdctl(state, "snapshot", "restore", path, "--data-dir", state.path("etcd")))
    for part in parts:
        start(state, part)


def fill(state: State) -> None:
    """Needs `up --etcd-quota`. Reads, and deletions without a finalizer, still work then."""
    value = "x" * (1 << 20)
    for number in range(1000):
        done = _etcdctl(state, "put", f"{FILLER}{number}", input=value)
        if "database space exceeded" in done.stderr:
            return
        _must(done)
    raise ClusterError("etcd is not full after 1000 MiB: start the cluster with --etcd-quota")


def drain(state: State) -> None:
    _must(_etcdctl(state, "del", "--prefix", FILLER))
    status = json.loads(_must(_etcdctl(state, "endpoint", "status", "-w", "json")))
    _must(_etcdctl(state, "compact", str(status[0]["Status"]["header"]["revision"])))
    _must(_etcdctl(state, "defrag"))
    _must(_etcdctl(state, "alarm", "disarm"))
