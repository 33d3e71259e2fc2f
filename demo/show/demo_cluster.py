# SPDX-License-Identifier: Apache-2.0
"""The demo's cluster, through tests/cluster."""

import os
import shlex
import shutil
import subprocess
from typing import Any

from demo.show.errors import DemoError
from tests.kit.cluster import cluster_environment
from tests.kit.paths import BUILD_IMAGE, CLUSTER, program

NAME = "demo"
POOLS = {"pool.yaml": ("demo", ["na", "nb", "nc"]), "shared-pool.yaml": ("shared", ["nd"]),
         "gpu-pool.yaml": ("by-gpu", ["ne"])}
SHARED = "/dev/shm/gpupool-demo"  # each node has file systems of its own, but /dev is the machine's
GPUS, SPLIT = "na=1,nb=1,nc=1,nd=2,ne=2", "nd=10"


def check_absent() -> None:
    """A cluster that runs already is somebody's; one that a crash left is removed."""
    for line in _run(CLUSTER, "list").splitlines():
        name, state = line.split()[:2]
        if name != NAME:
            continue
        if state == "running":
            raise DemoError(f"a cluster `{NAME}` runs already; `demo/run down` removes it")
        print(f"removing what an earlier demo left of cluster `{NAME}`")
        down()


def up(keep: bool, enforce: str = "") -> dict[str, str]:
    """Nodes with simulated GPUs; without `keep` it goes when this process ends, however it ends. enforce: the node whose slices
    are limited."""
    owner = [] if keep else ["--owner-pid", str(os.getpid())]
    _run(CLUSTER, "up", NAME, "--nodes", "na,nb,nc,nd,ne", "--gpus", GPUS, "--split", SPLIT, "--image", "pytorch",
         *(["--enforce", enforce] if enforce else []), *owner)
    return environment()


def load_launcher() -> None:
    load(_run(BUILD_IMAGE, "launcher", program("gpupool-launch")).strip())


def load(archive: str) -> None:
    _run(CLUSTER, "load", NAME, archive)


def down() -> None:
    _run(CLUSTER, "down", NAME)
    shutil.rmtree(SHARED, ignore_errors=True)


def folder() -> str:
    """Where the cluster keeps its files, also when it does not run."""
    root = os.environ.get("GPUPOOL_CLUSTERS") or os.environ.get("TMPDIR") or "/tmp"
    return os.path.join(root, f"gpupool-cluster-{NAME}")


def environment() -> dict[str, str]:
    """The environment in which kubectl and the operator reach the cluster, and no proxy is asked for it."""
    return {**os.environ, **cluster_environment(_run(CLUSTER, "env", NAME))}


def _run(*command: Any) -> str:
    """stdout; progress and complaints go to the terminal through stderr."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise DemoError(f"failed with code {done.returncode}: {shlex.join(map(str, command))}")
    return done.stdout
