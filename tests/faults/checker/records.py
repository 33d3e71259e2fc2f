# SPDX-License-Identifier: Apache-2.0
"""What the rules look at, read from objects as the API server shows them. The names of keys are gpupool's interface."""

import dataclasses
import json
from typing import Any

from tests.kit.api import Object
from tests.kit.names import DRAIN, GPU, JOB_UID, LEASE, LEASE_LABEL, POOL_TAINT, SLICES_LABEL

NODE_CONTROLLER = "kube-controller-manager"  # the name under which it writes
# What those who submit jobs say about them, for this checker alone.
EXPECTED = "checker.test/expected"  # phase/reason[/charged failures]
KEEPS_NODES = "checker.test/keeps-nodes"
NEVER_RAN = "ContainerStatusUnknown"  # what a kubelet says of a container of a pod that it ended before that
AWAITING = "Awaiting"  # the state of a lease that is a claim
SOURCE, RESULTS = "gpupool-source", "gpupool-results"  # containers of gpupool-carry


def job_of(lease_value: str) -> str:
    return lease_value.rpartition(".")[0]


@dataclasses.dataclass
class Node:
    name: str
    uid: str
    born: int  # revision at which we first saw this node
    taints: list  # values of the lease taint: there can be only one, but who knows
    label: str
    annotation: str
    pools: list  # values of the pool taint
    gpus: int = 0  # that its device plugin offers whole
    drained: bool = False  # somebody wants its jobs to leave
    ready: bool = True
    undone: list | None = None  # what the node controller has made of the lease taints; `taints` is as they were before

    @staticmethod
    def read(node: Object, born: int) -> "Node":
        meta = node["metadata"]
        taints = node["spec"].get("taints", [])
        return Node(meta["name"], meta["uid"], born, [t.get("value", "") for t in taints if t["key"] == LEASE],
                    meta.get("labels", {}).get(LEASE_LABEL), meta.get("annotations", {}).get(LEASE),
                    [t.get("value", "") for t in taints if t["key"] == POOL_TAINT],
                    int(node.get("status", {}).get("allocatable", {}).get(GPU, 0)), DRAIN in meta.get("annotations", {}), _ready(node))

    def after(self, before: Any, node: Object) -> "Node":
        """Itself, next to what it was. The node controller of Kubernetes before 1.26 writes all taints of a node as its
        cache has them (kubernetes/kubernetes#113136): one that was taken off meanwhile comes back, one that was put on
        is gone. It never writes labels, so that a new label is gpupool's word on all of it."""
        if node_controller_wrote_taints(node) and self.taints != before.taints and self.label == before.label:
            return dataclasses.replace(self, taints=before.taints, undone=self.taints)
        return self


def _ready(node: Object) -> bool:
    return any(c["type"] == "Ready" and c["status"] == "True" for c in node.get("status", {}).get("conditions", []))


def node_controller_wrote_taints(node: Object) -> bool:
    """As the last one: as a whole the list has one owner. An empty one has none, and may be its work too."""
    owners = [entry.get("manager") for entry in node["metadata"].get("managedFields", [])
              if "f:taints" in entry.get("fieldsV1", {}).get("f:spec", {})]
    return not owners or NODE_CONTROLLER in owners


@dataclasses.dataclass
class Job:
    uid: str
    key: str  # namespace/name
    phase: str
    reason: str
    message: str
    failures: int
    conditions: dict
    deleting: bool
    expected: str
    keeps_nodes: bool
    lease_id: str  # "": none
    state: str
    attempt: int
    slices: int  # of each worker, or single GPUs; 0: whole nodes
    nodes: dict  # name: (UID, workers)
    lost: dict  # (name, UID): lease value of then
    outcome: str = ""  # of a lease that is being given back
    saves_for: int | None = None  # seconds that its results may take; None: it has none
    attempts: int = 0
    clock_runs: bool = False  # that of its deadline
    active: int = 0  # seconds for which earlier leases were held
    step: int | None = None  # of its last checkpoint
    history: list = dataclasses.field(default_factory=list)
    pool: str = ""
    tenant: str = ""  # of its lease, in a pool with spec.queue
    held_since: str = ""  # RFC 3339: since then its lease has nodes
    awaits: tuple[str, ...] = ()  # UIDs of jobs that make room for it, of a claim
    awaits_until: str = ""  # RFC 3339; then the claim is given up
    yields: int = 0  # how often it has made room
    grace: int = 0  # seconds that its workers have to stop
    bill: dict | None = None

    @staticmethod
    def read(job: Object) -> "Job":
        meta, status = job["metadata"], job.get("status") or {}
        lease, notes = status.get("lease") or {}, meta.get("annotations", {})
        results = job["spec"].get("results")
        return Job(meta["uid"], f"{meta['namespace']}/{meta['name']}", status.get("phase", ""),
                   status.get("reason", ""), status.get("message", ""), status.get("failures", 0),
                   {c["type"]: c for c in status.get("conditions", [])}, "deletionTimestamp" in meta,
                   notes.get(EXPECTED, ""), KEEPS_NODES in notes, lease.get("id", ""), lease.get("state", ""),
                   lease.get("attempt", 0), lease.get("slices", 0),
                   {n["name"]: (n["uid"], n.get("workers", 0)) for n in lease.get("nodes", [])},
                   {(n["name"], n["uid"]): n.get("id", "") for n in lease.get("lost", [])}, lease.get("outcome", ""),
                   max(entry.get("timeoutSeconds", 300) for entry in results) if results else None,
                   status.get("attempts", 0), "startTime" in status, status.get("activeSeconds", 0),
                   status["checkpoint"].get("step", 0) if "checkpoint" in status else None, status.get("history", []),
                   job["spec"].get("pool", ""), lease.get("tenant", ""), lease.get("heldSince", ""), tuple(lease.get("awaits", [])),
                   lease.get("awaitsUntil", ""), status.get("yields", 0), _grace(job["spec"]), status.get("bill"))

    @property
    def awaiting(self) -> bool:
        """Whether its lease is a claim: its nodes are those of others, or free, and nothing of it is there."""
        return self.state == AWAITING

    def places_held(self) -> set[tuple[str, str]]:
        """(name, UID) of the nodes that its lease has or is about to take; none of a claim."""
        return set() if self.awaiting else self.places_named()

    def places_named(self) -> set[tuple[str, str]]:
        """The same, also of a claim."""
        return {(name, uid) for name, (uid, _) in self.nodes.items()}

    def claims(self, node: Node) -> bool:
        """By its status, be it as a plan or in fact."""
        return node.name in self.nodes and self.nodes[node.name][0] == node.uid

    def has_lost(self, node: Node) -> bool:
        return (node.name, node.uid) in self.lost

    def places(self) -> set[str]:
        """Names of nodes that its lease speaks of."""
        return {*self.nodes, *(name for name, _ in self.lost)}


@dataclasses.dataclass
class Pool:
    name: str
    limits: dict  # tenant: GPUs that it may hold; "" stands for those that are not named
    used: dict  # tenant: milli-GPU-seconds
    as_of: str  # RFC 3339: the moment of these
    prices: list  # of a GPU-hour: those of its spec without a schedule, and the one of now of a pool whose price follows demand

    @staticmethod
    def read(pool: Object) -> "Pool":
        queue, told = pool["spec"].get("queue") or {}, (pool.get("status") or {}).get("queue") or {}
        limits = {tenant["name"]: tenant.get("limit") for tenant in queue.get("tenants", [])}
        limits[""] = queue.get("others", {}).get("limit")
        return Pool(pool["metadata"]["name"], limits,
                    {tenant["name"]: int(tenant["usage"]) for tenant in told.get("tenants", [])}, told.get("asOf", ""),
                    _prices(pool))

    def limit_of(self, tenant: str) -> int | None:
        return self.limits.get(tenant, self.limits[""])


def _prices(pool: Object) -> list[str]:
    price, now = pool["spec"].get("price") or {}, (pool.get("status") or {}).get("price")
    named = [price, *price.get("models", []), *([now] if now else [])]
    return [one["perGpuHour"] for one in named if one]


@dataclasses.dataclass
class Pod:
    uid: str
    key: str
    born: int
    job: str  # UID
    lease: str
    node: str  # "": not bound
    slices: int
    ended: bool
    began: bool
    attempt: int
    rank: int
    fetches: bool | None = None  # whether it has not shown yet that its source was fetched; None: it has none
    result: int | None = None  # exit code of its command, with the launcher's word for it
    saves: bool = False  # its command has ended so, and its results are not reported; it may still report them
    stopped: bool = False  # it was told to stop before its command ended, by the launcher's word
    ranks: int = 1  # of its attempt
    unsaved: bool = False  # its command has ended so, and its results are not reported

    @staticmethod
    def read(pod: Object, born: int) -> "Pod | None":
        """None for a pod that is not a worker."""
        meta, status = pod["metadata"], pod.get("status", {})
        labels = meta.get("labels", {})
        if JOB_UID not in labels:
            return None
        states = status.get("containerStatuses") or []
        over = status.get("phase") in ("Succeeded", "Failed")
        # Of one that never began, that its kubelet deletes it with grace 0 is the end: finalizers keep the object.
        told = bool(states) or meta.get("deletionGracePeriodSeconds") == 0
        ended = over or told and all("terminated" in s["state"] for s in states)
        worker, results = (_status(states, c["name"]) for c in (pod["spec"]["containers"][0], {"name": RESULTS}))
        end = worker["state"].get("terminated")
        began = "running" in worker["state"] or bool(end and end.get("reason") != NEVER_RAN) or bool(worker["lastState"])
        fetch = _status(status.get("initContainerStatuses") or [], SOURCE)["state"].get("terminated", {})
        has = {c["name"] for c in (*pod["spec"].get("initContainers", []), *pod["spec"]["containers"])}
        ends = [told for told in _told(worker) if "outcome" in told]
        codes = [told["exitCode"] for told in ends]
        unsaved = RESULTS in has and bool(codes) and not _told(results)
        saves = unsaved and not over and "deletionTimestamp" not in meta
        env = {e["name"]: e.get("value") for c in pod["spec"]["containers"][:1] for e in c.get("env", [])}
        owners = meta.get("ownerReferences", [])
        gang = bool(owners) and owners[0]["kind"] == "StatefulSet"
        return Pod(meta["uid"], f"{meta['namespace']}/{meta['name']}", born, labels[JOB_UID], labels.get(LEASE, ""),
                   pod["spec"].get("nodeName", ""), int(labels.get(SLICES_LABEL, 0)), ended, began,
                   int(env.get("GPUPOOL_ATTEMPT") or 0), int(meta["name"].rpartition("-")[2]) if gang else 0,
                   fetch.get("exitCode") != 0 if SOURCE in has else None, codes[0] if codes else None, saves,
                   any("stopSignal" in told for told in ends), _ranks(pod["spec"]["containers"][0]), unsaved)


def _grace(spec: Object) -> int:
    of_template = spec["template"].get("spec", {}).get("terminationGracePeriodSeconds", 30)
    return max(of_template, (spec.get("checkpoint") or {}).get("graceSeconds", 0))


def _ranks(worker: Object) -> int:
    """As its launcher is told."""
    flags = [word.partition("=") for word in worker.get("command", [])]
    return next((int(value) for flag, _, value in flags if flag == "--nnodes"), 1)


def _status(statuses: list[Object], name: str) -> Any:
    """Of this container; without one, that of a container that has not begun."""
    found = next((s for s in statuses if s["name"] == name), {})
    return {"state": {}, **found, "lastState": found.get("lastState") or {}}


def _told(status: Object) -> list[Object]:
    """What the container has left as termination messages, if it is ours."""
    messages = [status[key].get("terminated", {}).get("message", "") for key in ("state", "lastState")]
    return [json.loads(message) for message in messages if message.startswith("{")]


def gpus_of(gpu_node: Object) -> list[tuple[Any, float]]:
    """[(slices there are, slices in use)] of each GPU of a GpuNode."""
    status = gpu_node.get("status") or {}
    return [((gpu.get("slices") or {}).get("total", 0), sum(p.get("slices", 0) for p in gpu.get("pods") or []))
            for gpu in status.get("gpus") or []]


def renewal_of(lease: Object) -> tuple[str, str]:
    """Holder, and the moment of its last renewal: different for each."""
    spec = lease.get("spec") or {}
    return spec.get("holderIdentity") or "", json.dumps([spec.get("renewTime"), spec.get("acquireTime")])
