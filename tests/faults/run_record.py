# SPDX-License-Identifier: Apache-2.0
"""A record of what ran where: a node has one lease at a time, and a command runs once per attempt."""

from tests.faults.checker.records import node_controller_wrote_taints
from tests.kit.api import Api, Object
from tests.kit.names import JOB_NAME, JOB_UID, LEASE, LEASE_LABEL
from tests.kit.played.kubelet import Observer
from tests.kit.played.workers import attempt_of, rank_of, shares_a_node


def carries(node: Object, lease: str) -> bool:
    """The label, which binds the workers, and the taint, which keeps others away, are written together. The node controller
    of Kubernetes before 1.26 may undo the taint at any time (kubernetes/kubernetes#113136), also before the workers begin.
    They begin regardless: it is gpupool that puts the taint back, and a rule of the checker how soon."""
    if node["metadata"].get("labels", {}).get(LEASE_LABEL) != lease:
        return False
    taints = [t.get("value") for t in node["spec"].get("taints", []) if t["key"] == LEASE]
    return taints == [lease] or node_controller_wrote_taints(node)


class RunRecord(Observer):
    """violations: of promise 1 (a node belongs to one lease), promise 3 (a command runs once per attempt), and of sweeps: a
    trial has one GpuJob."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.violations: list[str] = []
        self.runs: dict[tuple[str, int, int], str] = {}  # (job UID, attempt, rank): UID of the pod that ran the command
        self._jobs: dict[tuple[str, str], str] = {}  # (namespace, name of a GpuJob, used once): its UID
        self._occupied: dict[str, dict[str, str]] = {}  # node: {pod UID: lease}
        self._problems: dict[str, list[str]] = {}  # of workers that are about to begin, by UID

    def starting(self, pod: Object) -> None:
        if not shares_a_node(pod):
            self._problems[pod["metadata"]["uid"]] = self._enter(pod, pod["spec"]["nodeName"])

    def start_failed(self, pod: Object) -> None:
        self._problems.pop(pod["metadata"]["uid"], None)
        self.ended(pod)

    def started(self, pod: Object) -> None:
        meta = pod["metadata"]
        self.violations += self._problems.pop(meta["uid"], [])
        job = meta["namespace"], meta["labels"][JOB_NAME]
        if self._jobs.setdefault(job, meta["labels"][JOB_UID]) != meta["labels"][JOB_UID]:
            self.violations.append(f"GpuJob {job[1]} in {job[0]} ran, and then another one of that name")
        key = (meta["labels"][JOB_UID], attempt_of(pod), rank_of(pod))
        if self.runs.setdefault(key, meta["uid"]) != meta["uid"]:
            self.violations.append(f"rank {key[2]} of attempt {key[1]} ran twice, at last as pod {meta['name']}")

    def ended(self, pod: Object) -> None:
        """The node is free before that is written: nothing runs any more when others can know."""
        self._occupied.get(pod["spec"].get("nodeName"), {}).pop(pod["metadata"]["uid"], None)

    def node_removed(self, node: str) -> None:
        """With all that ran on it."""
        self._occupied.pop(node, None)

    def _enter(self, pod: Object, node: str) -> list[str]:
        """What is wrong with a worker on this node, which it has for itself."""
        meta, lease = pod["metadata"], pod["metadata"]["labels"][LEASE]
        there = self._api.get("nodes", node)
        others = self._occupied.setdefault(node, {})
        foreign = [other for other in others.values() if other != lease]
        others[meta["uid"]] = lease  # from here on a test may end it
        found = [f"{meta['name']} of lease {lease} began on node {node} beside lease {other}" for other in foreign]
        if not carries(there, lease):
            found.append(f"{meta['name']} of lease {lease} began on node {node}, which does not carry it")
        return found
