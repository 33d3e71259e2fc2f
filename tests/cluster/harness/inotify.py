# SPDX-License-Identifier: Apache-2.0
"""inotify instances, of which a machine has few for each user. A kubelet that gets none runs, is Ready, and never sees a
device plugin; it says so only in its log."""

import ctypes
import os
import re
from typing import Any, Callable

from tests.cluster.harness.errors import ClusterError

LIMIT = "/proc/sys/fs/inotify/max_user_instances"
OF_A_NODE, OF_THE_REST = 16, 4  # instances: kubelet, containerd and device plugin have about half of that
COMPLAINT = re.compile(r"inotify|too many open files|no space left on device", re.IGNORECASE)


def free(wanted: int) -> int:
    """How many instances this user can have now, counted up to `wanted`. They are given back at once."""
    libc, taken = ctypes.CDLL(None, use_errno=True), []
    try:
        while len(taken) < wanted:
            instance = libc.inotify_init1(os.O_CLOEXEC)
            if instance < 0:
                break
            taken.append(instance)
        return len(taken)
    finally:
        for instance in taken:
            os.close(instance)


def ensure(nodes: int, tell: Callable[[str], Any], path: str = LIMIT) -> None:
    """Instances for a cluster of so many nodes. If there are too few the machine's limit grows, which tell() is told."""
    wanted = nodes * OF_A_NODE + OF_THE_REST
    found = free(wanted)
    if found >= wanted:
        return
    with open(path, encoding="ascii") as source:
        limit = int(source.read())
    lack = f"{found} of {wanted} inotify instances are free"
    try:
        with open(path, "w", encoding="ascii") as out:
            out.write(str(limit + 2 * wanted))
    except OSError as error:
        raise ClusterError(f"{lack}: raise fs.inotify.max_user_instances ({limit}) on this machine, or end what uses "
                           f"them; it cannot be raised from here: {error}") from None
    if free(wanted) < wanted:
        raise ClusterError(f"{lack}, also after fs.inotify.max_user_instances went from {limit} to {limit + 2 * wanted}: "
                           "is there a limit of a container, or of open files?")
    tell(f"{lack}: fs.inotify.max_user_instances went from {limit} to {limit + 2 * wanted}")


def complaints(log: str, most: int = 5) -> str:
    """The last lines of a log that complain of instances or descriptors, for the end of an error."""
    try:
        with open(log, encoding="utf-8", errors="replace") as source:
            found = [line.rstrip() for line in source if COMPLAINT.search(line)]
    except OSError:
        return ""
    return "".join(f"\n{os.path.basename(log)}: {line}" for line in found[-most:])
