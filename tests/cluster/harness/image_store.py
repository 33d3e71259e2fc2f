# SPDX-License-Identifier: Apache-2.0
"""Images on nodes.

Unpacking a large image on every node costs more than everything else. So a set of images is unpacked once into a
containerd root outside the tree, which every node then uses read-only (see node-root).
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
import typing
from typing import Any, Iterator, Sequence

from tests.cluster.harness import processes
from tests.cluster.harness.errors import ClusterError
from tests.kit.paths import BUILD_IMAGE

FORMAT = "1"  # raise it when stores made by older code cannot be used any more


class Store(typing.NamedTuple):
    """A containerd root, and a descriptor whose shared lock keeps it from being pruned."""
    folder: str
    lock: typing.Optional[int]


NONE = Store("-", None)


def archives(names: Sequence[str]) -> list[str]:
    """Paths of the archives of these images, made if they are not there."""
    done = subprocess.run([BUILD_IMAGE, *names], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"{BUILD_IMAGE} {' '.join(names)} failed")
    return done.stdout.split()


def import_archive(init: int, archive: str) -> None:
    with open(archive, "rb") as source:
        done = subprocess.run(processes.inside(init, "ctr", "-n", "k8s.io", "images", "import", "-"), stdin=source,
                              capture_output=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"loading {archive}: {done.stderr.decode(errors='replace').strip()}")


def prepare(paths: list[str]) -> Store:
    """The Store with these archives unpacked. Slow only the first time."""
    key = hashlib.sha256("\n".join([FORMAT, *sorted(os.path.basename(p) for p in paths)]).encode()).hexdigest()[:12]
    folder = os.path.dirname(paths[0])
    store = os.path.join(folder, f"store-{key}")
    with open(os.path.join(folder, ".store.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(store):
            _prune(folder)
            _unpack(paths, folder, store)
        descriptor = os.open(store, os.O_RDONLY)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
    os.utime(store)
    return Store(store, descriptor)


def _unpack(paths: list[str], folder: str, store: str) -> None:
    work = tempfile.mkdtemp(prefix=".store-", dir=folder)
    try:
        with _private_containerd(work) as call:
            for path in paths:
                call("images", "import", path)
        shutil.rmtree(os.path.join(work, "state"), ignore_errors=True)
        os.rename(os.path.join(work, "root"), store)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _prune(folder: str) -> None:
    """Removes what a killed run left, and stores that no cluster uses but the last two. The caller holds the lock."""
    paths = [os.path.join(folder, name) for name in os.listdir(folder)]
    for path in paths:
        if os.path.basename(path).startswith(".store-") and os.path.isdir(path):
            shutil.rmtree(path, ignore_errors=True)
    stores = [path for path in paths if os.path.basename(path).startswith("store-")]
    for path in sorted(stores, key=os.path.getmtime)[:-2]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _private_containerd(work: str) -> Iterator[Any]:
    """A containerd in namespaces of its own, ended with the block; yields a function that calls `ctr`."""
    config, log = os.path.join(work, "config.toml"), os.path.join(work, "log")
    socket = os.path.join(work, "state", "sock")
    with open(config, "w", encoding="utf-8") as out:
        out.write(f'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.internal.v1.opt"]\n'
                  f'root = "{work}/root"\nstate = "{work}/state"\n[grpc]\n  address = "{socket}"\n')
    with open(log, "wb") as output:
        server = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child=KILL",
                                   "--mount", "--propagation", "unchanged", "sh", "-c",
                                   processes.PRIVATE_MOUNTS + ' && exec containerd -c "$0"', config],
                                  stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def call(*arguments: str) -> None:
        done = subprocess.run(["ctr", "-a", socket, "-n", "k8s.io", *arguments],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ClusterError(f"ctr {arguments[0]}: {done.stderr.strip()}")

    try:
        try:
            processes.wait_for("containerd", lambda: os.path.exists(socket) and subprocess.run(
                ["ctr", "-a", socket, "version"], capture_output=True, check=False).returncode == 0, 30)
        except ClusterError as error:
            raise ClusterError(f"{error}\n{processes.log_tail(log)}") from None
        yield call
    finally:
        server.kill()
        server.wait()
