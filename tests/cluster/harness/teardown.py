# SPDX-License-Identifier: Apache-2.0
"""Removes everything of a cluster, from any state, also one that was never finished."""

import os
import shutil
import signal
import time

from tests.cluster.harness import cgroups, network, processes
from tests.cluster.harness.state import State


def remove(state: State) -> None:
    """Ends all processes of the cluster, then removes its link, cgroups and folder. Twice is harmless."""
    end_processes(state)
    network.remove_link(state.name)
    cgroups.remove(state.name)
    # Last: while the folder is there, the name is taken.
    remove_folder(state.folder)


def end_processes(state: State) -> None:
    init = processes.find_init(processes.cluster_title(state.name))
    if init is not None:
        # The kernel kills the whole namespace with its process 1, and lets it go only after the last one.
        processes.kill_and_wait(init, timeout=30)
    # One that is dying already has no name any more.
    space = state.facts().get("namespace")
    if space:
        processes.wait_for(f"the processes of {state.name} to end", lambda: not processes.is_dying(space), 30)


def remove_folder(folder: str) -> None:
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.1)
    shutil.rmtree(folder)


def down(state: State) -> None:
    """Removes the cluster and ends its keeper. Works from outside, whoever started it."""
    end_processes(state)
    keeper = processes.find_keeper(state.name)
    if keeper is not None:
        # It wakes up when the cluster dies and removes the rest, but may be held up or too young to have noticed.
        processes.kill_and_wait(keeper, signal.SIGTERM, timeout=20) or processes.kill_and_wait(keeper)
    remove(state)


def is_stale(state: State) -> bool:
    """Whether nothing of the cluster runs, so that it is neither up nor on its way."""
    if processes.find_init(processes.cluster_title(state.name)) or processes.find_keeper(state.name):
        return False
    starter = state.facts().get("starter")
    if starter is None:  # killed, or at its first step, in the moment between creating the folder and writing there
        return time.time() - os.stat(state.folder).st_mtime > 30
    return not processes.is_running(starter)
