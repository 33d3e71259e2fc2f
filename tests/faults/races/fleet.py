# SPDX-License-Identifier: Apache-2.0
"""The pools and nodes of the races, and a thread that disturbs the nodes."""

import collections
import threading
from random import Random
from typing import Any, Callable

from tests.faults.races.race_kubelets import RaceKubelets
from tests.kit.api import Api
from tests.kit.manifests import PRICE, pool_manifest
from tests.kit.names import POOL_LABEL
from tests.kit.played.nodes import FakeNodes
from tests.kit.waiting import wait_for

ONE, BIG, LENT, SHARED, CALM = "race-one", "race-big", "race-lent", "race-shared", "race-calm"
GPUS = {ONE: [1] * 8, BIG: [2, 2, 4, 4, 8, 8], LENT: [1] * 4, SHARED: [2] * 3, CALM: [1] * 4}  # of each node
SPLIT = 10
# Whoever waits claims at once, also from jobs that have just begun.
YIELD = {"toShare": True, "minRunSeconds": 0, "shareMinRunSeconds": 0, "patienceSeconds": 0}
OWNERS = 2  # writers whose namespaces are of the tenant with a guarantee
JOBS_A_DISTURBANCE = 4  # jobs that end from one to the next


def is_owners(namespace: str) -> bool:
    """namespace: of a writer, whose number is its end; or of the storm."""
    numbers = namespace.split("-")[1:]
    return len(numbers) == 2 and int(numbers[1]) < OWNERS


def specs(namespaces: list[str]) -> dict[str, dict[str, Any]]:
    """Of pools that have one. Two namespaces are a tenant with a guarantee, three another one, and the rest a third one, so
    that each has several jobs; the limits are for the largest job that the pool can run."""
    tenants: list[dict[str, Any]] = [
        {"name": "owner", "namespaces": namespaces[:OWNERS], "weight": 4, "guaranteed": 16, "limit": 20, "maxPriority": 1},
        {"name": "lab", "namespaces": namespaces[OWNERS:5], "weight": 2, "limit": 16}]
    big = {"tenants": tenants, "others": {"mode": "Together", "limit": 24}, "yield": YIELD}
    lent, shared = ([{**tenant, "guaranteed": 1, "limit": limit} for tenant in tenants] for limit in (3, 4))
    return {BIG: {"queue": big, "price": PRICE}, LENT: {"queue": {**big, "tenants": lent}, "price": PRICE},
            SHARED: {"queue": {"tenants": shared, "yield": YIELD}, "sharing": {"deviceSplitCount": SPLIT}, "price": PRICE}}


class Fleet:
    def __init__(self, api: Api, nodes: FakeNodes, kubelet: RaceKubelets, namespaces: list[str]) -> None:
        """namespaces: of the tenants of its pools."""
        self._api, self._nodes, self._kubelet = api, nodes, kubelet
        self._specs = specs(namespaces)
        self._size = {f"{pool}-{i}": (pool, gpus) for pool, all_gpus in GPUS.items() for i, gpus in enumerate(all_gpus)}

    def names(self, *pools: str) -> list[str]:
        return [name for name, (pool, _) in self._size.items() if pool in pools]

    def set_up(self) -> None:
        for pool in GPUS:
            self._api.create("gpupools", pool_manifest(pool, {POOL_LABEL: pool}, nodeLossTimeoutSeconds=1, **self._specs.get(pool, {})))
        for name in self._size:
            self.add(name)

    def tear_down(self) -> None:
        for pool in GPUS:
            self._api.delete("gpupools", pool)
        wait_for("the pools to be gone", lambda: not any(self._api.find("gpupools", pool) for pool in GPUS))

    def remove_all(self) -> None:
        for name in self._size:
            self.remove(name)

    def add(self, name: str) -> None:
        pool, gpus = self._size[name]
        self._nodes.add(name, {POOL_LABEL: pool}, gpus=0 if pool == SHARED else gpus)
        if pool == SHARED:
            self._kubelet.plugins.add(name, gpus, SPLIT)
        self._kubelet.revive(name)

    def remove(self, name: str) -> None:
        self._kubelet.remove(name)
        if self._size[name][0] == SHARED:
            self._kubelet.plugins.remove(name)
        self._nodes.remove(name)

    def lose(self, name: str, dead: bool) -> None:
        if dead:
            self._kubelet.dead.add(name)
        self._nodes.set_ready(name, "Unknown")

    def find(self, name: str) -> None:
        self._nodes.set_ready(name, "True")
        self._kubelet.revive(name)

    def cordon(self, name: str, unschedulable: bool) -> None:
        self._api.patch("nodes", name, {"spec": {"unschedulable": unschedulable or None}})

    def drain(self, name: str, until: str) -> None:
        self._nodes.drain(name, until)

    def end_drain(self, name: str) -> None:
        self._nodes.end_drain(name)

    def relabel(self, name: str, member: bool) -> None:
        pool = self._size[name][0] if member else None
        self._api.patch("nodes", name, {"metadata": {"labels": {POOL_LABEL: pool}}})


class NodeDisturber(threading.Thread):
    """Disturbs a node for a while for every few jobs that end; a quarter of the nodes at most at a time."""

    def __init__(self, fleet: Fleet, numbers: Random, progress: Callable[[], int]) -> None:
        """progress(): how many jobs have ended: on a slow machine nodes come and go slowly too."""
        super().__init__(daemon=True)
        self._fleet, self._numbers, self._closed = fleet, numbers, threading.Event()
        self._progress = progress
        self._undo = {}  # node: (seconds left, what undoes it)
        self.counts, self.problems = collections.Counter(), []

    def close(self) -> None:
        """All nodes are as they were in the beginning. Once more it does nothing."""
        self._closed.set()
        self.join()
        while self._undo:
            _, (_, undo) = self._undo.popitem()
            undo()

    def run(self) -> None:
        names, step, due = self._fleet.names(ONE, BIG, LENT, SHARED), 0.1, 0.0
        while not self._closed.wait(step):
            try:
                self._pass_by(step)
                free = [name for name in names if name not in self._undo]
                if len(self._undo) < len(names) // 4 and self._progress() >= due:
                    due = self._progress() + self._numbers.uniform(0, 2 * JOBS_A_DISTURBANCE)
                    name = self._numbers.choice(free)
                    self._undo[name] = (self._numbers.uniform(0.2, 4), self._disturb(name))
            except Exception as error:  # pylint: disable=broad-exception-caught
                self.problems.append(f"disturber: {error!r}")

    def _pass_by(self, step: float) -> None:
        for name, (left, undo) in list(self._undo.items()):
            self._undo[name] = (left - step, undo)
            if left <= step:
                undo()
                del self._undo[name]

    def _disturb(self, name: str) -> Callable[..., Any]:
        fleet, kind = self._fleet, self._numbers.choice(("NotReady", "NotReady", "cordoned", "drained", "relabelled",
                                                                      "replaced"))
        dead = self._numbers.random() < 0.5
        self.counts[f"node {kind}" + (", its kubelet dead" if dead and kind == "NotReady" else "")] += 1
        if kind == "NotReady":
            fleet.lose(name, dead)
            return lambda: fleet.find(name)
        if kind == "cordoned":
            fleet.cordon(name, True)
            return lambda: fleet.cordon(name, False)
        if kind == "drained":
            fleet.drain(name, self._numbers.choice(("", "2020-01-01T00:00:00Z")))
            return lambda: fleet.end_drain(name)
        if kind == "relabelled":
            fleet.relabel(name, False)
            return lambda: fleet.relabel(name, True)
        fleet.remove(name)
        return lambda: fleet.add(name)
