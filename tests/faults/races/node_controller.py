# SPDX-License-Identifier: Apache-2.0
"""Plays the node controller of Kubernetes before 1.26 with its bug: it writes all taints of a node as they were before
the last change of its lease taint (kubernetes/kubernetes#113136)."""

import collections
import random
from typing import Any

from tests.faults.checker.records import NODE_CONTROLLER
from tests.kit.api import CONNECTION_ERRORS, MERGE_PATCH, Api, ApiError, Object
from tests.kit.follower import GONE, Follower
from tests.kit.names import LEASE

SHARE = 0.1  # of the changes of lease taints
UNDONE = "lease taints undone by the node controller"


class NodeController:
    def __init__(self, api: Api, seed: int) -> None:
        self._api, self._numbers = api, random.Random(seed)
        self._taints = {}  # node: what it had
        self._follower = Follower(api.path, "nodes", self._look, self._taints.clear)
        self.counts = collections.Counter()

    def start(self) -> None:
        self._follower.list().start()

    def close(self) -> None:
        self._follower.close()

    def _look(self, what: str, node: Object) -> None:
        name, now = node["metadata"]["name"], node["spec"].get("taints", [])
        before = self._taints.pop(name, now)
        if what == GONE:
            return
        self._taints[name] = now
        if _leases(now) != _leases(before) and self._numbers.random() < SHARE:
            self._write(node, before)

    def _write(self, node: Object, taints: list[Object]) -> None:
        url = self._api.url("nodes", name=node["metadata"]["name"], fieldManager=NODE_CONTROLLER)
        change = {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"]}, "spec": {"taints": taints or None}}
        try:
            self._api.call("PATCH", url, change, MERGE_PATCH)
            self._taints[node["metadata"]["name"]] = taints
            self.counts[UNDONE] += 1
        except (ApiError, *CONNECTION_ERRORS):
            pass  # it is gone, or has changed again


def _leases(taints: list[Object]) -> list[Any]:
    return [t.get("value") for t in taints if t["key"] == LEASE]
