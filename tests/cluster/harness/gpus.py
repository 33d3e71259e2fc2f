# SPDX-License-Identifier: Apache-2.0
"""Simulated GPUs of nodes: tests/fake-nvml and tests/fake-cuda in place of NVIDIA's libraries, and a control file that says
which GPUs there are.

The device plugin finds them where the manifests expect the driver's libraries.
"""

import functools
import json
import os
import shutil
from typing import Any, Callable, Iterable

from tests.cluster.harness import inotify, processes
from tests.cluster.harness.api import Api
from tests.cluster.harness.errors import ClusterError
from tests.cluster.harness.state import State
from tests.kit.names import GPU, SLICE

FOLDER = "var/lib/gpupool/driver"  # of a node
CONTROL = "nvml.json"
MODEL = "NVIDIA L4"


def parse(text: str, nodes: list[str], what: str) -> dict[str, int]:
    """{node: number} of "2" (each node) or "na=1,nd=3" (the others: none)."""
    try:
        if "=" not in text:
            return {node: int(text) for node in nodes}
        found = {name: int(number) for name, _, number in (part.partition("=") for part in text.split(","))}
    except ValueError:
        raise ClusterError(f"{what} {text!r}: want a number, or NODE=NUMBER,...") from None
    for name in found.keys() - set(nodes):
        raise ClusterError(f"{what}: there is no node {name}")
    return found


def folder(state: State, node: str) -> str:
    return state.path("nodes", node, FOLDER)


def place(state: State, node: str, libraries: Iterable[str], count: int) -> None:
    """Gives the node this many GPUs; the libraries watch the file."""
    os.makedirs(folder(state, node), exist_ok=True)
    for library in libraries:
        _replace(os.path.join(folder(state, node), os.path.basename(library)),
                 functools.partial(shutil.copy, library), once=True)
    world = {"node": node, "gpus": [{"count": count, "model": MODEL}] if count else []}
    _replace(os.path.join(folder(state, node), CONTROL), lambda path: _write(path, json.dumps(world, indent=1)))
    counts = {**state.facts().get("gpus", {}), node: count}
    state.remember(gpus=counts)


def _replace(path: str, make: Callable[[str], Any], once: bool = False) -> None:
    """Whole or not at all, and a library that a program has loaded stays as it is."""
    if once and os.path.exists(path):
        return
    make(path + ".new")
    os.rename(path + ".new", path)


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def wait_allocatable(state: State, api: Api, node: str, old_sockets: Iterable[tuple[str, int, int]] = ()) -> None:
    """Until schedulers see the node's GPUs. Does nothing on a node that was never given any.

    A kubelet that has just started repeats old numbers; but it and the plugin make their sockets anew, so there must be
    others than before."""
    facts = state.facts()
    if node not in facts.get("gpus", {}):
        return
    split = facts.get("splits", {}).get(node, 1)
    resource, count = GPU if split == 1 else SLICE, str(facts["gpus"][node] * split)

    def shown() -> bool:
        allocatable = api.get(f"/api/v1/nodes/{node}")["status"].get("allocatable", {})
        now = sockets(state, node)
        registered = not now & set(old_sockets) and (count == "0" or any(name.startswith("gpupool-") for name, *_ in now))
        return allocatable.get(resource, "0") == count and registered

    try:
        processes.wait_for(f"{count} {resource} to be allocatable on node {node}", shown, 120, 0.1)
    except ClusterError as error:
        raise ClusterError(f"{error}{inotify.complaints(state.path('log', f'kubelet-{node}'))}") from None


def sockets(state: State, node: str) -> set[tuple[str, int, int]]:
    """Identities of the sockets by which the kubelet and the plugin meet."""
    found = set()
    folder_of_sockets = state.path("nodes", node, "var/lib/kubelet/device-plugins")
    for name in os.listdir(folder_of_sockets) if os.path.isdir(folder_of_sockets) else []:
        if name.endswith(".sock"):
            try:
                info = os.stat(os.path.join(folder_of_sockets, name))
            except FileNotFoundError:
                continue
            found.add((name, info.st_ino, info.st_mtime_ns))
    return found
