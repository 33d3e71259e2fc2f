"""The node controller of Kubernetes before 1.26, at its worst: it writes all taints of a node as they were before the last
change of its lease taint (kubernetes/kubernetes#113136)."""

import collections
import random

from checker.records import LEASE_TAINT, NODE_CONTROLLER
from following import GONE, Follower
from races.players import TROUBLE
from support.api import MERGE_PATCH, ApiError

SHARE = 0.1  # of the changes of lease taints
UNDONE = "lease taints undone by the node controller"


class NodeController:
    def __init__(self, api, seed):
        self._api, self._numbers = api, random.Random(seed)
        self._taints = {}  # node: what it had
        self._follower = Follower(api.path, "nodes", self._look, self._taints.clear)
        self.counts = collections.Counter()

    def start(self):
        self._follower.list().start()

    def close(self):
        self._follower.close()

    def _look(self, what, node):
        name, now = node["metadata"]["name"], node["spec"].get("taints", [])
        before = self._taints.pop(name, now)
        if what == GONE:
            return
        self._taints[name] = now
        if _leases(now) != _leases(before) and self._numbers.random() < SHARE:
            self._write(node, before)

    def _write(self, node, taints):
        url = self._api.url("nodes", name=node["metadata"]["name"], fieldManager=NODE_CONTROLLER)
        change = {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"]}, "spec": {"taints": taints or None}}
        try:
            self._api.call("PATCH", url, change, MERGE_PATCH)
            self._taints[node["metadata"]["name"]] = taints
            self.counts[UNDONE] += 1
        except (ApiError, *TROUBLE):
            pass  # it is gone, or has changed again


def _leases(taints):
    return [t.get("value") for t in taints if t["key"] == LEASE_TAINT]
