"""Removes everything of a cluster, from any state, also one that was never finished."""

import os
import shutil
import time

from . import cgroups, network, processes


def remove(state):
    """Ends all processes of the cluster, then removes its link, cgroups and folder. Twice is harmless."""
    init = processes.find_init(processes.cluster_title(state.name))
    if init is not None:
        # The kernel kills the whole namespace with its process 1, and lets it go only after the last one.
        processes.kill_and_wait(init, timeout=30)
    network.remove_link(state.name)
    cgroups.remove(state.name)
    remove_folder(state.folder)


def remove_folder(folder):
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.1)
    shutil.rmtree(folder)


def down(state):
    """Removes the cluster and ends its keeper. Works from outside, whoever started it."""
    remove(state)
    keeper = processes.find_keeper(state.name)
    if keeper is not None and keeper != os.getpid():
        # It wakes up by itself when the cluster dies, and finds nothing left to do.
        processes.wait_for(f"the keeper of {state.name} to end",
                           lambda: processes.find_keeper(state.name) is None, 30)
        remove(state)
