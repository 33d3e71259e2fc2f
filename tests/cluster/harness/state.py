# SPDX-License-Identifier: Apache-2.0
"""The folder of one cluster and the few facts kept in it."""

import json
import os
import re
from typing import Any

from tests.cluster.harness.errors import ClusterError

PREFIX = "gpupool-cluster-"


def root() -> str:
    return os.environ.get("GPUPOOL_CLUSTERS") or os.environ.get("TMPDIR") or "/tmp"


def names() -> list[str]:
    """Every cluster with a folder, running or not."""
    if not os.path.isdir(root()):
        return []
    return sorted(f[len(PREFIX):] for f in os.listdir(root()) if f.startswith(PREFIX))


class State:
    """Files of the cluster `name`. Facts are a JSON object that is replaced whole, so a reader never sees half."""

    def __init__(self, name: str) -> None:
        if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", name):
            raise ClusterError(f"cluster name {name!r}: want lower case letters, digits and '-', at most 40")
        self.name = name
        self.folder = os.path.join(root(), PREFIX + name)

    def path(self, *parts: str) -> str:
        return os.path.join(self.folder, *parts)

    def exists(self) -> bool:
        return os.path.isdir(self.folder)

    def create(self) -> None:
        """Claims the name. Creating the folder is the claim, so two callers cannot both have it."""
        os.makedirs(root(), exist_ok=True)
        try:
            os.mkdir(self.folder, 0o700)
        except FileExistsError:
            raise ClusterError(f"cluster {self.name} exists already in {self.folder}: "
                               f"`tests/cluster/cluster down {self.name}` removes it") from None
        for part in ("log", "etcd", "pki", "nodes", "dns"):
            os.mkdir(self.path(part))

    def require(self) -> "State":
        if not self.exists():
            raise ClusterError(f"there is no cluster {self.name} in {root()}")
        return self

    def facts(self) -> dict[str, Any]:
        try:
            with open(self.path("facts.json"), encoding="utf-8") as source:
                return json.load(source)
        except FileNotFoundError:
            return {}

    def remember(self, **facts: Any) -> dict[str, Any]:
        merged = {**self.facts(), **facts}
        self.write("facts.json", json.dumps(merged, indent=1))
        return merged

    def write(self, name: str, text: str) -> str:
        path = self.path(name)
        with open(path + ".new", "w", encoding="utf-8") as out:
            out.write(text)
        os.rename(path + ".new", path)
        return path
