# SPDX-License-Identifier: Apache-2.0
"""Running jobs are deleted at once, on nodes with real kubelets: beside plain Jobs with the same pods.

A kubelet sends SIGTERM, kills after the grace period, and looks once a second whether a container has ended. A node is
free when the API server knows that; the pod stays until the kubelet has cleaned up after it. Plain Jobs pay all that
too.
"""

import concurrent.futures
import statistics
import time
from typing import Any, Callable, Iterable

from bench.suite.real_lab import NODES, POOL, real_lab
from bench.suite.results import Results
from tests.kit.api import Api, Object
from tests.kit.manifests import job_manifest, shell
from tests.kit.names import GPU, LEASE
from tests.kit.waiting import wait_for

BENCHMARK = "teardown-real"
POLL = 0.02  # seconds
LIMIT = 120
COMMANDS = {"heeds SIGTERM": "trap 'exit 0' TERM; while :; do sleep 3600 & wait $!; done",
            "ignores SIGTERM": "trap '' TERM; while :; do sleep 1; done"}


def _plain_job(name: str, namespace: str, script: str) -> dict[str, Any]:
    """What a GpuJob of one GPU runs, without gpupool."""
    container = shell(script, resources={"limits": {GPU: "1"}})
    pod = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 1, "containers": [container]}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace},
            "spec": {"template": {"spec": pod}}}


def _pods(api: Api, namespace: str) -> dict[str, Any]:
    """What happens to pods: event -> names of those to which it has yet to happen."""
    pods = api.list("pods", namespace)
    return {"pods marked": _names(pod for pod in pods if "deletionTimestamp" not in pod["metadata"]),
            "containers ended": _names(pod for pod in pods if not all(
                "terminated" in c["state"] for c in pod["status"].get("containerStatuses", [{"state": {}}]))),
            "pods gone": _names(pods)}


def _pods_running(api: Api, namespace: str, count: int) -> bool:
    pods = api.list("pods", namespace)
    return len(pods) == count and all(pod["status"].get("phase") == "Running" for pod in pods)


def _until_happened(began: float, look: Callable[[], dict[str, set[str]]]) -> Any:
    """Event -> seconds until it has happened to one name after the other. look() is asked now and then."""
    left = look()
    seconds = {event: [] for event in left}
    while any(left.values()):
        if time.monotonic() - began > LIMIT:
            raise RuntimeError(f"{BENCHMARK}: still to happen after {LIMIT} s: {left}")
        time.sleep(POLL)
        now, passed = look(), time.monotonic() - began
        for event, names in left.items():
            seconds[event] += [passed] * len(names - now[event])
        left = now
    return seconds


def _delete_all(api: Api, kind: str, namespace: str, looks: list[Callable[[], dict[str, set[str]]]]) -> dict[Any, Any]:
    """Event -> seconds from the first deletion, of all that each of the looks shows."""
    names = [item["metadata"]["name"] for item in api.list(kind, namespace)]
    with concurrent.futures.ThreadPoolExecutor(len(names) + len(looks)) as threads:
        began = time.monotonic()
        waits = [threads.submit(_until_happened, began, look) for look in looks]
        list(threads.map(lambda name: api.delete(kind, name, namespace), names))
        return {event: seconds for wait in waits for event, seconds in wait.result().items()}


def _names(objects: Iterable[Object]) -> set[Any]:
    return {item["metadata"]["name"] for item in objects}


def _floor(api: Api, namespace: str, nodes: list[str], script: str) -> Any:
    for node in nodes:
        api.create("jobs", _plain_job(f"plain-{node}", namespace, script))
    wait_for("the plain jobs to run", lambda: _pods_running(api, namespace, len(nodes)), LIMIT)
    return _delete_all(api, "jobs", namespace, [lambda: _pods(api, namespace)])


def _ours(api: Api, namespace: str, pool: str, nodes: list[str], script: str) -> Any:
    for node in nodes:
        api.create("gpujobs", job_manifest(f"job-{node}", namespace, pool, script))
    wait_for("the jobs to run", lambda: _pods_running(api, namespace, len(nodes)) and all(
        job.get("status", {}).get("phase") == "Running" for job in api.list("gpujobs", namespace)), LIMIT)

    def leased() -> dict[str, set[str]]:
        return {"nodes free": _names(node for node in api.list("nodes") if node["metadata"]["name"] in nodes
                                     and LEASE in str(node["metadata"]) + str(node["spec"]))}

    def jobs() -> dict[str, set[str]]:
        return {"jobs gone": _names(api.list("gpujobs", namespace))}
    return _delete_all(api, "gpujobs", namespace, [leased, jobs, lambda: _pods(api, namespace)])


def measure(results: Results, api: Api, namespace: str, pool: str, nodes: list[str], runs: int,
            commands: dict[str, str] | None = None) -> None:
    """A job for each of these nodes, which have one GPU each and are all of the pool. An operator runs."""
    for _ in range(runs):
        for what, script in (commands or COMMANDS).items():
            times = {}
            for subject, taken in (("floor", _floor(api, namespace, nodes, script)),
                                   ("operator", _ours(api, namespace, pool, nodes, script))):
                for event, seconds in taken.items():
                    times[subject, event] = seconds[-1]
                    results.add(BENCHMARK, f"{what}: deleted to {event}: {subject}", statistics.median(seconds), "s")
                    results.add(BENCHMARK, f"{what}: deleted to all {event}: {subject}", seconds[-1], "s")
            for event in ("containers ended", "pods gone"):
                results.add(BENCHMARK, f"{what}: all nodes free: operator / all {event}: floor",
                            times["operator", "nodes free"] / times["floor", event], "x")


def run(results: Results, runs: int) -> None:
    """On a cluster of its own."""
    with real_lab("real") as lab:
        measure(results, lab.api, lab.new_namespace(1), POOL, NODES, runs)
