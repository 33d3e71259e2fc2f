"""A scheduler for workers: the nodes of their lease, and in a sharing pool what they ask for and how they spread."""

from fake_plugins import RESOURCE
from support.jobs import JOB_UID, LEASE, LEASE_LABEL

MEMBER_LABEL = "gpupool.dev.node-restriction.kubernetes.io/member"
POOL_TAINT = "gpupool.dev/pool"


def asks_for(pod):
    limits = pod["spec"]["containers"][0].get("resources", {}).get("limits", {})
    return int(limits.get(RESOURCE, 0))


def over(pod):
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def tolerates(pod, node):
    """The pool's taint: every other one is the tests' own business."""
    values = {t.get("value") for t in pod["spec"].get("tolerations", []) if t.get("key") == POOL_TAINT}
    taints = [t["value"] for t in node["spec"].get("taints", []) if t["key"] == POOL_TAINT]
    return all(value in values for value in taints)


class Binder:
    def __init__(self, api):
        self._api = api

    def bind(self, pod):
        pods = [p for p in self._api.list("pods", labelSelector=JOB_UID) if p["spec"].get("nodeName")]
        nodes = self._api.list("nodes")
        fit = self._sharing(pod, pods, nodes) if asks_for(pod) else self._exclusive(pod, pods, nodes)
        if fit:
            meta = pod["metadata"]
            target = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": meta["name"]},
                      "target": {"apiVersion": "v1", "kind": "Node", "name": fit[0]["metadata"]["name"]}}
            self._api.call("POST", self._api.url("pods", meta["namespace"], meta["name"], "binding"), target)

    @staticmethod
    def _exclusive(pod, pods, nodes):
        busy = {p["spec"]["nodeName"] for p in pods if p["metadata"].get("ownerReferences")}  # not who only has labels
        return [n for n in nodes if n["metadata"].get("labels", {}).get(LEASE_LABEL) == pod["metadata"]["labels"][LEASE]
                and n["metadata"]["name"] not in busy]

    def _sharing(self, pod, pods, nodes):
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
        return [n for n in wanted if tolerates(pod, n) and self._left(n, pods) >= asks_for(pod) and
                (not spread or mates[n["metadata"]["name"]] == min(mates.values()))]

    @staticmethod
    def _left(node, pods):
        used = sum(asks_for(p) for p in pods if p["spec"]["nodeName"] == node["metadata"]["name"] and not over(p))
        return int(node["status"].get("allocatable", {}).get(RESOURCE, 0)) - used
