# SPDX-License-Identifier: Apache-2.0
"""The cgroups of a cluster: gpupool-NAME/NODE in every hierarchy of the machine, v1 or v2."""

import os
import time
from typing import Any, Iterator


def _hierarchies() -> Iterator[Any]:
    with open("/proc/mounts", encoding="utf-8") as mounts:
        for line in mounts:
            fields = line.split()
            if fields[2] in ("cgroup", "cgroup2"):
                yield fields[1], fields[2]


def group(cluster: str, node: str) -> str:
    return f"/gpupool-{cluster}/{node}"


def create(cluster: str, node: str) -> None:
    for mount, kind in _hierarchies():
        parent = mount
        for part in (f"gpupool-{cluster}", node):
            if kind == "cgroup2":
                _delegate(parent)
            folder = os.path.join(parent, part)
            os.makedirs(folder, exist_ok=True)
            _inherit_cpuset(parent, folder)
            parent = folder


def _delegate(folder: str) -> None:
    """Lets children use every controller of this v2 group; the kubelet does the same below."""
    try:
        with open(os.path.join(folder, "cgroup.controllers"), encoding="utf-8") as source:
            controllers = source.read().split()
    except OSError:
        return
    for controller in controllers:
        _write(os.path.join(folder, "cgroup.subtree_control"), "+" + controller)


def _inherit_cpuset(parent: str, folder: str) -> None:
    """A v1 cpuset group is born without CPUs and memory nodes and takes no process until it has them."""
    for name in ("cpuset.cpus", "cpuset.mems"):
        try:
            with open(os.path.join(parent, name), encoding="utf-8") as source:
                value = source.read().strip()
        except OSError:
            continue
        if value:
            _write(os.path.join(folder, name), value)


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
    except OSError:
        pass  # an owner of the machine who forbids a controller has his reasons; the kubelet says so if it needs it


def remove(cluster: str) -> None:
    """Removes the groups. Their processes are dead, but the kernel may need a moment to empty a group."""
    for mount, _ in _hierarchies():
        top = os.path.join(mount, f"gpupool-{cluster}")
        end = time.monotonic() + 10
        while os.path.isdir(top) and time.monotonic() < end:
            for folder, _, _ in os.walk(top, topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass
            if os.path.isdir(top):
                time.sleep(0.05)
