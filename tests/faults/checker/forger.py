# SPDX-License-Identifier: Apache-2.0
"""Writes what only the operator, the scheduler and kubelets should, to break the rules of the checker one by one."""

import functools
import time
from typing import Any, Callable, Sequence

from tests.faults.checker.clock import ELECTION_NAMESPACE
from tests.faults.checker.leadership import Leadership
from tests.faults.checker.lease_rules import TakingMoves
from tests.faults.checker.node_rules import MarksNameHolder, NodeControllerUndone
from tests.faults.checker.records import NODE_CONTROLLER, RESULTS, SOURCE
from tests.faults.checker.rule import Change
from tests.faults.checker.yield_rules import DrainedNodesStayFree
from tests.kit.api import MERGE_PATCH, Api, Object
from tests.kit.manifests import job_manifest, pool_manifest
from tests.kit.names import DRAIN, GPU, JOB_UID, LEASE, LEASE_LABEL, SLICES_LABEL
from tests.kit.played.worker_result import container_status, exited
from tests.kit.waiting import wait_for

NOBODY = "00000000-0000-0000-0000-000000000000"
TOO_LONG = 3 + max(rule.LIMIT for rule in (MarksNameHolder, NodeControllerUndone, TakingMoves))
SAVES_FOR = 3600  # seconds
PERIOD, PAUSE = 0.4, 1.5 * Leadership.RENEWED_WITHIN  # of renewals


def ended(code: int, message: str = "") -> Object:
    """The state of a container."""
    return {"terminated": {"exitCode": code, "message": message}}


FETCHED = ended(0, '{"version":1}')


def _container(name: str, **more: Any) -> Object:
    return {"name": name, "image": "i", **more}


def _status(name: str, state: Object) -> Object:
    return container_status(name, "i", state)


class Forger:
    """Writes what only the operator, the scheduler and kubelets should."""

    def __init__(self, api: Api, space: str) -> None:
        self.complained = lambda mark: False  # whether the checker has named it
        self.api, self.space, self._names, self.nodes, self._jobs = api, space, iter(range(1000)), {}, {}
        self._pools, self._renewed = [], time.monotonic()
        self.kept: dict[str, Any] = {}  # what breaches need again later

    def set_up(self) -> None:
        self.api.create("namespaces", {"metadata": {"name": self.space}})
        wait_for("the service account", lambda: self.api.find("serviceaccounts", "default", self.space))

    def tear_down(self) -> None:
        for kind in ("gpujobs", "pods"):
            for objekt in self.api.list(kind, self.space):
                self.api.patch(kind, objekt["metadata"]["name"], {"metadata": {"finalizers": None}}, self.space)
                self.api.delete(kind, objekt["metadata"]["name"], self.space, gracePeriodSeconds=0)
        for kind in ("nodes", "gpunodes"):
            for name in self.nodes:
                self.api.delete(kind, name)
        for name in self._pools:
            self.api.delete("gpupools", name)
        for record in self.api.list("gpubillrecords"):
            self.api.delete("gpubillrecords", record["metadata"]["name"])
        self.api.delete("leases", "self-election", ELECTION_NAMESPACE)
        self.api.delete("namespaces", self.space)

    @functools.cached_property
    def long_drained(self) -> str:
        """A node that has been drained for a while in which somebody leads, who does nothing but renew."""
        node = self.node()
        self.drain(node)
        self.lead(DrainedNodesStayFree.LIMIT + 2)
        return node

    def lead(self, seconds: float) -> None:
        """Renews for so long without a break. A renewal that takes long counts as a break: then the time begins anew."""
        begin = last = time.monotonic()
        give_up = begin + 180
        while last < min(begin + seconds, give_up):
            self.renew()
            now = time.monotonic()
            begin, last = now if now - last > 0.9 * Leadership.RENEWED_WITHIN else begin, now
            time.sleep(PERIOD)

    def until_seen(self, breach: Callable[[], str]) -> str:
        """What one operator that has led for a while does; again if the machine was too slow for that to be certain."""
        mark = breach()
        for _ in range(20):
            end = time.monotonic() + 2
            while time.monotonic() < end:
                if self.complained(mark):
                    return mark
                time.sleep(0.05)
            mark = breach()
        return mark

    def rest(self) -> None:
        """Whoever leads has done so for a while, as far as anybody knows."""
        time.sleep(max(0.0, self._renewed + Change.SETTLED + 0.5 - time.monotonic()))

    def wait_for_complaint(self, mark: str) -> None:
        """Of what is wrong only after a while in which somebody leads, who does nothing but renew."""
        begin = time.monotonic()
        while not self.complained(mark) and time.monotonic() < begin + 180:
            self.renew()
            time.sleep(PERIOD)

    def pause(self) -> None:
        """Nobody leads for as long: who is paused again and again renews too seldom."""
        for _ in range(1 + int(TOO_LONG / PAUSE)):
            self.renew()
            time.sleep(PAUSE)

    def take_turns(self) -> None:
        """As long, by leaders of whom each has a part of it."""
        for turn in range(int(TOO_LONG / PERIOD)):
            self.renew(f"leader {turn // 5}")
            time.sleep(PERIOD)

    def node(self, gpus: int = 0) -> str:
        """One that the node controller has nothing to say of any more: that of 1.20 writes the taints that it has in its
        cache, and so brings back what was taken off meanwhile."""
        name = f"{self.space}-n{next(self._names)}"
        complete = {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": "True"}],
                                                           "allocatable": {GPU: str(gpus)}}}
        self.nodes[name] = self.api.create("nodes", complete)["metadata"]["uid"]
        wait_for("the taint of a new node to go", lambda: not self.api.get("nodes", name)["spec"].get("taints"))
        return name

    def pool(self, price: Any = None, **queue: Any) -> str:
        """One that has no nodes. queue: its spec.queue."""
        name = f"{self.space}-p{next(self._names)}"
        self.api.create("gpupools", pool_manifest(name, {name: "none"}, queue=queue, **({"price": price} if price else {})))
        self._pools.append(name)
        return name

    def job(self, pool: str = "none", **annotations: str) -> str:
        """With results, of which pods have nothing unless they are said to."""
        to = {"s3": {"bucket": "lab", "prefix": "x"}}
        manifest = job_manifest(f"j{next(self._names)}", self.space, pool, suspend=True,
                                results=[{"from": "/gpupool/work/out", "to": to, "timeoutSeconds": SAVES_FOR}])
        manifest["metadata"]["annotations"] = annotations
        made = self.api.create("gpujobs", manifest)["metadata"]
        self._jobs[made["name"]] = made["uid"]
        return made["name"]

    def uid(self, job: str) -> str:
        return self._jobs[job]

    def status(self, job: str, number: int, state: str, *nodes: str, slices: int = 0, workers: int = 1,
               attempt: int = 0, outcome: str | None = None, tenant: str | None = None, awaits: Sequence[str] = (),
               until: str | None = None, **status: Any) -> None:
        """awaits, until: of a claim, whom it awaits, as UIDs."""
        if state in ("Running", "Restarting"):  # what begins is counted
            status = {"attempts": attempt + (state == "Running"), **status}
        lease = {"outcome": outcome, "id": f"{self._jobs[job]}.{number}", "state": state, "attempt": attempt, "slices": slices or None,
                 "nodes": [{"name": n, "uid": self.nodes[n], "workers": workers} for n in nodes],
                 "tenant": tenant, "awaits": list(awaits) or None, "awaitsUntil": until}
        self.api.patch("gpujobs", job, {"status": {"phase": "Running", **status, "lease": lease if state else None}},
                       self.space, "status")

    def mark(self, node: str, job: str, number: int = 1, key: str = LEASE) -> None:
        value = f"{self._jobs.get(job, NOBODY)}.{number}"
        marks = {"labels": {LEASE_LABEL: value}, "annotations": {LEASE: f"{self.space}/{job}"}}
        taints = [{"key": key, "value": value, "effect": "NoSchedule"}]
        self.api.patch("nodes", node, {"metadata": marks if key == LEASE else {}, "spec": {"taints": taints}})

    def drain(self, node: str) -> None:
        self.api.patch("nodes", node, {"metadata": {"annotations": {DRAIN: ""}}})

    def unmark(self, node: str) -> None:
        self.api.patch("nodes", node, {"metadata": {"labels": {LEASE_LABEL: None}, "annotations": {LEASE: None}},
                                       "spec": {"taints": None}})

    def undo(self, node: str, value: Any = None) -> None:
        """As the node controller of 1.20: this, or nothing, is the lease taint that its cache has."""
        taints = [{"key": LEASE, "value": value, "effect": "NoSchedule"}] if value else None
        url = self.api.url("nodes", name=node, fieldManager=NODE_CONTROLLER)
        self.api.call("PATCH", url, {"spec": {"taints": taints}}, MERGE_PATCH)

    def hold(self, *nodes: str, **annotations: str) -> str:
        """A job that holds these nodes as it should."""
        job = self.job(**annotations)
        self.status(job, 1, "Taking", *nodes)
        for node in nodes:
            self.mark(node, job)
        self.status(job, 1, "Held", *nodes)
        return job

    def gpus(self, node: str, *used: int) -> None:
        """GPUs of ten slices each."""
        ours = {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuNode", "metadata": {"name": node}}
        self.api.create("gpunodes", ours)
        gpus = [{"uuid": f"GPU-{node}-{i}", "index": i, "model": "M", "memoryMiB": 1, "health": "Healthy",
                 "resourceName": "gpupool.dev/vgpu", "slices": {"total": 10, "free": 0, "memoryMiB": 1, "cores": 10},
                 "pods": [{"namespace": self.space, "name": "p", "slices": slices}]} for i, slices in enumerate(used)]
        self.api.patch("gpunodes", node, {"status": {"gpus": gpus}}, sub="status")

    def record(self, job: str, bill: Object) -> None:
        """What the job held is kept beyond it."""
        self.api.create("gpubillrecords", {
            "apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuBillRecord", "metadata": {"name": f"{self._jobs[job]}.1"},
            "spec": {"namespace": self.space, "job": job, "jobUID": self._jobs[job], "bill": bill}})

    def pod(self, job: str, node: str, number: int = 1, running: bool = True, slices: int = 0, attempt: int = 0) -> str:
        """A worker; its rank is 0."""
        name = f"p{next(self._names)}"
        labels = {JOB_UID: self._jobs[job], LEASE: f"{self._jobs[job]}.{number}"}
        spec = {"nodeName": node, "containers": [_container("w", env=[{"name": "GPUPOOL_ATTEMPT", "value": str(attempt)}])]}
        self.api.create("pods", {"metadata": {"name": name, "namespace": self.space, "labels":
                                              {**labels, **({SLICES_LABEL: str(slices)} if slices else {})}}, "spec": spec})
        if running:
            self.pod_state(name, "Running", {"running": {}})
        return name

    def end_pod(self, name: str, **told: Any) -> None:
        """The command of attempt 0 ends with code 0. told: more of its result."""
        self.pod_state(name, "Succeeded", ended(0, exited(0, 0, 0, **told)))

    def pod_state(self, name: str, phase: str, state: Object) -> None:
        self.api.patch("pods", name, {"status": {"phase": phase, "containerStatuses": [_status("w", state)]}}, self.space, "status")

    def data_pod(self, job: str, node: str) -> str:
        """A worker with source and results, of which nothing has begun."""
        name = f"p{next(self._names)}"
        labels = {JOB_UID: self._jobs[job], LEASE: f"{self._jobs[job]}.1"}
        spec = {"nodeName": node, "initContainers": [_container(SOURCE)], "containers": [_container("w"), _container(RESULTS)]}
        self.api.create("pods", {"metadata": {"name": name, "namespace": self.space, "labels": labels}, "spec": spec})
        return name

    def data_state(self, pod: str, fetch: Object, worker: Object, results: Object, phase: str = "Running") -> None:
        status = {"phase": phase, "initContainerStatuses": [_status(SOURCE, fetch)],
                  "containerStatuses": [_status("w", worker), _status(RESULTS, results)]}
        self.api.patch("pods", pod, {"status": status}, self.space, "status")

    def saving_job(self, code: int) -> tuple[str, str, str]:
        """(job, node, pod): its command has ended with this code, and its results are not reported."""
        node = self.node()
        job = self.hold(node)
        self.status(job, 1, "Running", node)
        pod = self.data_pod(job, node)
        self.data_state(pod, FETCHED, ended(code, exited(0, 0, code)), {"running": {}})
        return job, node, pod

    def clear(self, job: str, node: str, pod: str) -> None:
        """As at the end of a job that is deleted."""
        self.data_state(pod, FETCHED, ended(0), ended(0))
        self.leave(pod)
        self.unmark(node)
        self.api.delete("gpujobs", job, self.space)

    def leave(self, pod: str, grace: int = 0) -> None:
        """It is deleted, and our finalizer keeps the object. With grace 0: its kubelet has seen the end of it."""
        self.api.patch("pods", pod, {"metadata": {"finalizers": ["gpupool.dev/worker"]}}, self.space)
        self.api.delete("pods", pod, self.space, gracePeriodSeconds=grace)

    def renew(self, holder: str = "me") -> None:
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                 "metadata": {"name": "self-election", "namespace": ELECTION_NAMESPACE}}
        if not self.api.find("leases", "self-election", ELECTION_NAMESPACE):
            self.api.create("leases", lease)
        self._renewed = time.monotonic()
        moment = int(10 * time.monotonic()) % 1_000_000
        spec = {"holderIdentity": holder, "renewTime": f"2020-01-01T00:00:00.{moment:06d}Z"}
        self.api.patch("leases", "self-election", {"spec": spec}, ELECTION_NAMESPACE)
