# SPDX-License-Identifier: Apache-2.0
"""A gang leaves a node that is lost, or that is drained, on nodes with real kubelets: beside a plain StatefulSet that
somebody deletes and makes again on other nodes at once.

The program takes SAVING seconds to save its work when it is told to stop. The floor pays that too, and all that the
kubelets take to end a pod and to start one.
"""

import time
from typing import Any, Callable

from bench.suite.real_lab import NODES, POOL, real_lab
from bench.suite.results import Results
from tests.kit.api import Api, Object
from tests.kit.cluster import Cluster
from tests.kit.jobs import JobHandle
from tests.kit.lab import Lab
from tests.kit.manifests import job_manifest, shell
from tests.kit.names import GPU
from tests.kit.waiting import wait_for

BENCHMARK = "moves-real"
SAVING = 2
GRACE = 10
LIMIT = 120
SCRIPT = f"trap 'sleep {SAVING}; exit 0' TERM; while :; do sleep 3600 & wait $!; done"
LOSS_TIMEOUT = 5


def _pods(api: Api, namespace: str, prefix: str) -> list[Object]:
    return [pod for pod in api.list("pods", namespace) if pod["metadata"]["name"].startswith(prefix)]


def _running(pods: list[Object], count: int) -> bool:
    return len(pods) == count and all(pod["status"].get("phase") == "Running" for pod in pods)


def _until(what: str, probe: Callable[[], Any]) -> float:
    """The moment in which it is first true."""
    wait_for(what, probe, LIMIT)
    return time.monotonic()


def _plain(name: str, namespace: str, nodes: list[str]) -> Any:
    """The same pods as of the gang, one on each of these nodes."""
    label = {"bench": name}
    apart = {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": label}}]}
    there = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}]}]}}
    pod = {"terminationGracePeriodSeconds": GRACE, "affinity": {"podAntiAffinity": apart, "nodeAffinity": there},
           "containers": [shell(SCRIPT, resources={"limits": {GPU: "1"}})]}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "namespace": namespace},
            "spec": {"serviceName": name, "replicas": len(nodes), "podManagementPolicy": "Parallel",
                     "selector": {"matchLabels": label},
                     "template": {"metadata": {"labels": label}, "spec": pod}}}


def floor(api: Api, namespace: str, number: int) -> float:
    """Seconds from the deletion until the pods on the other nodes run."""
    first, second = f"floor-{number}", f"again-{number}"
    api.create("statefulsets", _plain(first, namespace, NODES[:2]))
    _until("the plain pods to run", lambda: _running(_pods(api, namespace, first), 2))
    began = time.monotonic()
    api.delete("statefulsets", first, namespace)
    _until("the plain pods to end", lambda: not _pods(api, namespace, first))
    api.create("statefulsets", _plain(second, namespace, [NODES[0], NODES[2]]))
    ended = _until("the plain pods to run again", lambda: _running(_pods(api, namespace, second), 2))
    api.delete("statefulsets", second, namespace)
    _until("the plain pods to go", lambda: not _pods(api, namespace, second))
    return ended - began


def _gang(api: Api, namespace: str, name: str) -> JobHandle:
    manifest = job_manifest(name, namespace, POOL, SCRIPT, gpus=2, rendezvous="None",
                            checkpoint={"path": "/tmp", "graceSeconds": GRACE})
    api.create("gpujobs", manifest)
    job = JobHandle(api, name, namespace)
    job.wait("its workers to run", lambda s: s.get("workers", {}).get("running") == 2, LIMIT)
    return job


def _again(api: Api, job: JobHandle) -> float:
    job.wait("the next attempt", lambda s: s.get("attempts") == 2, LIMIT)
    prefix = job.lease()["id"].rpartition(".")[2]
    return _until("all ranks to run", lambda: _running(_pods(api, job.namespace, f"{job.name}-{prefix}-"), 2))


def drain(api: Api, namespace: str, number: int) -> float:
    """Seconds from the first worker that is told to stop until all ranks of the next attempt run."""
    job = _gang(api, namespace, f"drain-{number}")
    victim = job.nodes()[1]
    api.patch("nodes", victim, {"metadata": {"annotations": {"gpupool.dev/drain": ""}}})
    told = _until("the workers to be told", lambda: any(
        "deletionTimestamp" in pod["metadata"] for pod in job.pods()))
    runs = _again(api, job)
    api.patch("nodes", victim, {"metadata": {"annotations": {"gpupool.dev/drain": None}}})
    job.delete()
    job.wait_gone(LIMIT)
    return runs - told


def loss(api: Api, cluster: Cluster, namespace: str, number: int) -> float:
    """Seconds from the status that says that the node is lost until all ranks of the next attempt run."""
    job = _gang(api, namespace, f"loss-{number}")
    victim = job.nodes()[1]
    cluster.verb("stop-node", victim, "--hard")
    try:
        known = _until("the node to be lost", lambda: any(end["cause"] == "NodeLost"
                                                          for end in job.status().get("history", [])))
        runs = _again(api, job)
    finally:
        cluster.verb("start-node", victim)
    job.delete()
    job.wait_gone(LIMIT)
    return runs - known


def measure(results: Results, lab: Lab, runs: int) -> None:
    """Floor and operator in turns."""
    namespace = lab.new_namespace(1)
    for number in range(runs):
        least = floor(lab.api, namespace, number)
        results.add(BENCHMARK, "stopped to all ranks on other nodes run: floor", least, "s")
        for what, seconds in (("drain of a node: told to stop to all ranks run", drain(lab.api, namespace, number)),
                              ("node lost: known to all ranks run", loss(lab.api, lab.cluster, namespace, number))):
            results.add(BENCHMARK, f"{what}: operator", seconds, "s")
            results.add(BENCHMARK, f"{what}: operator - floor", seconds - least, "s")
            results.add(BENCHMARK, f"{what}: operator / floor", seconds / least, "x")


def run(results: Results, runs: int) -> None:
    """On a cluster of its own, with a spare node."""
    with real_lab("move", spares={"nodes": 1}, nodeLossTimeoutSeconds=LOSS_TIMEOUT) as lab:
        measure(results, lab, runs)
