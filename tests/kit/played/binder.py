# SPDX-License-Identifier: Apache-2.0
"""A scheduler for workers: the nodes of their lease, and in a sharing pool what they ask for and how they spread."""

from typing import Any, Protocol

from tests.kit.api import Object
from tests.kit.names import GPU, JOB_UID, LEASE, LEASE_LABEL, MEMBER_LABEL, POOL_TAINT, SLICE
from tests.kit.played.workers import gpus_of, is_over, shares_a_node, slices_of


class Objects(Protocol):
    """What a scheduler asks of an Api."""

    def list(self, kind: str, **query: Any) -> list[Object]: ...

    def call(self, method: str, path: str, body: Object) -> Any: ...

    def url(self, kind: str, namespace: str | None = None, name: str | None = None, sub: str | None = None,
            **query: Any) -> str: ...


def tolerates(pod: Object, node: Object) -> bool:
    """The pool's taint: every other one is the tests' own business."""
    values = {t.get("value") for t in pod["spec"].get("tolerations", []) if t.get("key") == POOL_TAINT}
    taints = [t["value"] for t in node["spec"].get("taints", []) if t["key"] == POOL_TAINT]
    return all(value in values for value in taints)


def has_lease_of(node: Object, pod: Object) -> bool:
    return node["metadata"].get("labels", {}).get(LEASE_LABEL) == pod["metadata"]["labels"][LEASE]


class Binder:
    """One worker of a whole-GPU job on each node."""

    def __init__(self, api: Any) -> None:
        self._api: Objects = api

    def bind(self, pod: Object) -> None:
        pods = [p for p in self._api.list("pods", labelSelector=JOB_UID) if p["spec"].get("nodeName")]
        nodes = self._api.list("nodes")
        fit = self._sharing(pod, pods, nodes) if shares_a_node(pod) else self._exclusive(pod, pods, nodes)
        if fit:
            meta = pod["metadata"]
            target = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": meta["name"]},
                      "target": {"apiVersion": "v1", "kind": "Node", "name": fit[0]["metadata"]["name"]}}
            self._api.call("POST", self._api.url("pods", meta["namespace"], meta["name"], "binding"), target)

    def _exclusive(self, pod: Object, pods: list[Object], nodes: list[Object]) -> list[Object]:
        busy = {p["spec"]["nodeName"] for p in pods if p["metadata"].get("ownerReferences")}  # not who only has labels
        return [n for n in nodes if has_lease_of(n, pod) and n["metadata"]["name"] not in busy]

    def _sharing(self, pod: Object, pods: list[Object], nodes: list[Object]) -> list[Object]:
        terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        members = {value for term in terms["nodeSelectorTerms"] for rule in term["matchExpressions"]
                   if rule["key"] == MEMBER_LABEL for value in rule["values"]}
        wanted = [n for n in nodes if n["metadata"].get("labels", {}).get(MEMBER_LABEL) in members]
        mates = {n["metadata"]["name"]: 0 for n in wanted}
        for other in pods:
            if other["metadata"]["labels"].get(LEASE) == pod["metadata"]["labels"][LEASE]:
                mates[other["spec"]["nodeName"]] = mates.get(other["spec"]["nodeName"], 0) + 1
        spread = any(c["maxSkew"] == 1 and c["topologyKey"] == MEMBER_LABEL and c["whenUnsatisfiable"] == "DoNotSchedule"
                     for c in pod["spec"].get("topologySpreadConstraints", []))
        return [n for n in wanted if tolerates(pod, n) and self._fits(pod, n, pods) and
                (not spread or mates[n["metadata"]["name"]] == min(mates.values()))]

    @staticmethod
    def _fits(pod: Object, node: Object, pods: list[Object]) -> bool:
        """By slices, or by whole GPUs."""
        resource, amount_of = (SLICE, slices_of) if slices_of(pod) else (GPU, gpus_of)
        used = sum(amount_of(p) for p in pods if p["spec"]["nodeName"] == node["metadata"]["name"] and not is_over(p))
        return int(node["status"].get("allocatable", {}).get(resource, 0)) - used >= amount_of(pod)


class GpuBinder(Binder):
    """By the GPUs that are free: several workers of a lease may share a node with several GPUs."""

    def _exclusive(self, pod: Object, pods: list[Object], nodes: list[Object]) -> list[Object]:
        used: dict[str, int] = {}
        for other in pods:
            if not is_over(other):
                name = other["spec"]["nodeName"]
                used[name] = used.get(name, 0) + gpus_of(other)
        return [n for n in nodes if has_lease_of(n, pod)
                and int(n["status"].get("allocatable", {}).get(GPU, 0)) - used.get(n["metadata"]["name"], 0) >= gpus_of(pod)]
