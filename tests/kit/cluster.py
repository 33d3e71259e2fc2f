# SPDX-License-Identifier: Apache-2.0
"""A cluster for the time of one run of the tests."""

import contextlib
import os
import shlex
import subprocess
import sys
from typing import Any, Iterator

from tests.kit.paths import CLUSTER, CRDS


def cluster_environment(exports: str) -> dict[str, str]:
    """The variables that `cluster env` prints as exports for a shell."""
    found = {}
    for line in exports.splitlines():
        name, _, value = line.removeprefix("export ").partition("=")
        found[name] = "".join(shlex.split(value))
    return found


class Cluster:
    """As a context manager it is up inside and gone after, also when this process is killed."""

    def __init__(self, name: str, *flags: str) -> None:
        self.name = name
        self._flags = flags
        self.kubeconfig = ""  # known once it is up
        self.keep = bool(os.environ.get("KEEP"))

    def _run(self, *arguments: str, capture: bool = False) -> str:
        done = subprocess.run([CLUSTER, *arguments], check=False, text=True,
                              stdout=subprocess.PIPE if capture else None)
        if done.returncode != 0:
            raise RuntimeError(f"cluster {' '.join(arguments)} failed")
        return done.stdout

    def __enter__(self) -> "Cluster":
        owner = [] if self.keep else ["--owner-pid", str(os.getpid())]
        self._run("up", self.name, *owner, *self._flags, capture=True)
        self._read_facts()
        return self

    def use_running(self) -> "Cluster":
        """For development: a cluster that somebody else started, and that is left running."""
        self.keep = True
        self._read_facts()
        return self

    def _read_facts(self) -> None:
        variables = cluster_environment(self._run("env", self.name, capture=True))
        self.kubeconfig = variables["KUBECONFIG"]
        os.environ["KUBECTL"] = variables["KUBECTL"]

    def __exit__(self, *_: Any) -> None:
        if self.keep:
            print(f"cluster {self.name} is kept; end it with tests/cluster/cluster down {self.name}", file=sys.stderr)
        else:
            self._run("down", self.name)

    def load(self, archive: str) -> None:
        self._run("load", self.name, archive)

    def verb(self, *arguments: str) -> None:
        self._run(arguments[0], self.name, *arguments[1:])

    def folder(self) -> str:
        return os.path.dirname(self.kubeconfig)


@contextlib.contextmanager
def given_or_own_control_plane(name: str) -> Iterator[str]:
    """The kubeconfig of $TEST_KUBECONFIG, or of a control plane that is started for the time of the block."""
    given = os.environ.get("TEST_KUBECONFIG")
    if given:
        yield given
        return
    with Cluster(f"{name}-{os.getpid()}", "--control-plane-only", "--definitions", CRDS) as cluster:
        yield cluster.kubeconfig
