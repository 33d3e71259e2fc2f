# SPDX-License-Identifier: Apache-2.0
"""Checks that nothing is left of a cluster, however it ends."""

import os
import signal
import subprocess
import time
from typing import Any, Callable, Iterable

from tests.cluster.checks.leftovers import pid_namespaces, snapshot
from tests.cluster.harness import processes, state as states
from tests.kit.checks import Checks
from tests.kit.commands import run
from tests.kit.paths import CLUSTER


def _gone(names: list[str], before: dict[str, set[str]]) -> Callable[..., Any]:
    def condition() -> tuple[bool, str]:
        after = snapshot(names)
        left = {kind: sorted(after[kind] - before[kind]) for kind in after if after[kind] - before[kind]}
        lost = {kind: sorted(before[kind] - after[kind]) for kind in after if before[kind] - after[kind]}
        return not left and not lost, f"left: {left}\ngone: {lost}"
    return condition


def check_nothing_left(report: Checks, text: str, names: list[str], before: dict[str, set[str]],
                       spaces: Iterable[str | None] = ()) -> None:
    report.eventually(f"{text}: nothing is left", _gone(names, before))
    alive = {space: pids for space, pids in pid_namespaces().items() if space in spaces}
    report.check(f"{text}: no process of it lives", not alive, alive)


def namespaces_of(names: list[str]) -> set[str | None]:
    """The PID namespaces of these clusters and of their nodes."""
    found = set()
    for pid in processes.all_pids():
        title = processes.title(pid)
        if any(title == processes.cluster_title(n) or title.startswith(processes.node_title(n, "")) for n in names):
            found.add(processes.namespace(pid))
    return found


def _wait_until(condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def check_interrupted_start(report: Checks, name: str, sig: signal.Signals, moment: str) -> None:
    """Ends `up` at the moment when the log file `moment` exists."""
    before = snapshot([name])
    starter = subprocess.Popen([CLUSTER, "up", name, "--nodes", "na"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, start_new_session=True)
    _wait_until(lambda: os.path.exists(states.State(name).path("log", moment)))
    spaces = namespaces_of([name])
    starter.send_signal(sig)
    starter.wait()
    check_nothing_left(report, f"`up` ended by {sig.name} when {moment} had started", [name], before, spaces)


def check_owner_killed(report: Checks, name: str) -> None:
    before = snapshot([name])
    owner = subprocess.Popen(["sleep", "1000"])
    code, text = run(CLUSTER, "up", name, "--control-plane-only", "--owner-pid", str(owner.pid))
    report.check("a cluster with an owner starts", code == 0, text)
    spaces = namespaces_of([name])
    owner.kill()
    owner.wait()
    check_nothing_left(report, "owner killed", [name], before, spaces)


def check_keeper_killed(report: Checks, name: str) -> None:
    before = snapshot([name])
    run(CLUSTER, "up", name, "--control-plane-only")
    spaces = namespaces_of([name])
    report.check("down --all-stale spares a running cluster",
                 run(CLUSTER, "down", "--all-stale")[0] == 0 and processes.find_init(processes.cluster_title(name)))
    # The kernel gives numbers of namespaces that have ended to new ones.
    older = states.State(name[:-1] + "x")
    os.makedirs(older.folder)
    older.remember(namespace=states.State(name).facts()["namespace"], starter=[1, "0"])
    code, text = run(CLUSTER, "down", "--all-stale")
    report.check("down --all-stale removes one whose namespace's number a running cluster has now",
                 code == 0 and older.name in text and processes.find_init(processes.cluster_title(name)), text)
    keeper = processes.find_keeper(name)
    assert keeper, f"cluster {name} has no keeper"
    os.kill(keeper, signal.SIGKILL)
    _wait_until(lambda: not processes.find_init(processes.cluster_title(name)))
    code, text = run(CLUSTER, "down", "--all-stale")
    report.check("down --all-stale removes a cluster whose keeper was killed", code == 0 and name in text, text)
    check_nothing_left(report, "keeper killed", [name], before, spaces)
