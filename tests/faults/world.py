# SPDX-License-Identifier: Apache-2.0
"""A pool with its nodes and its namespaces, for one scenario at a time; there may be several."""

import functools
import itertools
import time
from typing import Any, Callable, Iterator, Sequence

from tests.faults.cleanup import remove_everything
from tests.kit.api import Api, ApiError, Object
from tests.kit.jobs import JobHandle
from tests.kit.leaks import is_ours, node_traces
from tests.kit.manifests import PRICE, PRICE_ON_DEMAND, job_manifest, pool_manifest, sweep_manifest
from tests.kit.names import JOB_UID, POOL_LABEL
from tests.kit.played.kubelet import PlayedKubelet
from tests.kit.played.nodes import FakeNodes
from tests.kit.played.transfers import Plan
from tests.kit.played.workers import attempt_of, rank_of
from tests.kit.sweeps import SweepHandle
from tests.kit.waiting import wait_for

LIMIT = 240  # only for hangs: a storm has 24 worlds on two processors
KINDS = ("pods", "jobs", "statefulsets", "services")


class World:
    def __init__(self, api: Api, nodes: FakeNodes, kubelet: PlayedKubelet, name: str, node_count: int = 3) -> None:
        self.api, self.nodes, self.kubelet, self.name = api, nodes, kubelet, name
        self.node_names = [f"{name}-n{i}" for i in range(node_count)]
        self.supervisor: Any = None  # of the operator of this moment
        self.billed: list[Object] = []  # what jobs that are gone have held, as GpuBillRecords kept it
        self.slowest_mark = 0.0  # seconds until all that was left of a job was marked for deletion
        self._namespaces: list[str] = []
        self._numbers = itertools.count(1)

    def set_up(self) -> None:
        self._add_namespace(self.name)
        self.add_pool(self.name, self.node_names)

    def _add_namespace(self, name: str) -> str:
        self.api.create("namespaces", {"metadata": {"name": name}})
        self._namespaces.append(name)
        self.wait("the service account", lambda: self.api.find("serviceaccounts", "default", name))
        return name

    @functools.cached_property
    def other_namespace(self) -> str:
        """One of another tenant."""
        return self._add_namespace(self.name + "-other")

    def add_pool(self, pool: str, node_names: list[str], **spec: Any) -> None:
        label = {POOL_LABEL: pool}
        self.api.create("gpupools", pool_manifest(pool, label, nodeLossTimeoutSeconds=1, price=PRICE_ON_DEMAND, **spec))
        for name in node_names:
            self.nodes.add(name, label)

    def add_shared_pool(self, pool: str, node: str) -> None:
        """One GPU in ten slices."""
        self.api.create("gpupools", pool_manifest(pool, {POOL_LABEL: pool}, sharing={"deviceSplitCount": 10}, price=PRICE))
        self.nodes.add(node, {POOL_LABEL: pool}, gpus=0)
        self.kubelet.plugins.add(node)

    def add_gpu_pool(self, pool: str, node: str, gpus: int) -> None:
        """Whole GPUs, rented one by one."""
        self.api.create("gpupools", pool_manifest(pool, {POOL_LABEL: pool}, sharing={"unit": "GPU"}))
        self.nodes.add(node, {POOL_LABEL: pool}, gpus=gpus)

    def remove_pool(self, pool: str, nodes: list[str]) -> None:
        self.api.delete("gpupools", pool)
        self.wait(f"pool {pool} to be gone", lambda: not self.api.find("gpupools", pool))
        for node in nodes:
            self.wait(f"node {node} to be clean of pool {pool}", functools.partial(self._has_no_taint, node))
            self.kubelet.plugins.remove(node)
            self.nodes.remove(node)

    def _has_no_taint(self, node: str) -> bool:
        """Of ours."""
        return "gpupool.dev" not in str(self.api.get("nodes", node)["spec"].get("taints", ""))

    def tear_down(self) -> None:
        for sweep in self.api.list("gpusweeps", self.name):
            self.api.delete("gpusweeps", sweep["metadata"]["name"], self.name)
        for job in self._jobs():
            job.delete()
        self.wait("all jobs to be gone", lambda: not self._jobs())
        self.leave()

    def _jobs(self) -> list[JobHandle]:
        return [JobHandle(self.api, job["metadata"]["name"], namespace) for namespace in self._namespaces
                for job in self.api.list("gpujobs", namespace)]

    def leave(self) -> None:
        """For a world without jobs."""
        self.api.delete("gpupools", self.name)
        for namespace in self._namespaces:
            self.api.delete("namespaces", namespace)
        for name in self.node_names:
            self.nodes.remove(name)

    def abandon(self) -> None:
        """For one in which something has failed, when no operator runs any more."""
        remove_everything(self.api, self._namespaces, [self.name, self.name + "-extra", self.name + "-shared"])
        for name in [name for name in self.nodes.names() if name.startswith(self.name + "-")]:
            self.kubelet.plugins.remove(name)
            self.nodes.remove(name)

    def wait(self, what: str, probe: Callable[[], Any], limit: float = LIMIT) -> Any:
        return wait_for(what, probe, limit, lambda: f"in {self.name}: {self.show()}\n{self.supervisor.show()}")

    def show(self) -> str:
        jobs = [job.show() for job in self._jobs()]
        sweeps = [SweepHandle(self.api, s["metadata"]["name"], self.name).show() for s in self.api.list("gpusweeps", self.name)]
        return "\n".join([*sweeps, *jobs, *self.left_of()])

    def submit(self, gpus: int = 1, pool: str | None = None, source_plan: Plan | None = None, namespace: str | None = None,
               **spec: Any) -> JobHandle:
        """source_plan: how its source is fetched, until fetch_well()."""
        job = JobHandle(self.api, f"j{next(self._numbers)}", namespace or self.name)
        if source_plan:
            self.kubelet.transfers.sources[job.namespace, job.name] = source_plan
        made = self.api.create("gpujobs", job_manifest(job.name, job.namespace, pool or self.name, gpus=gpus, **spec))
        job.uid = made["metadata"]["uid"]
        return job

    def fetch_well(self, job: JobHandle) -> None:
        self.kubelet.transfers.sources.pop((job.namespace, job.name), None)

    def submit_sweep(self, trials: int, **spec: Any) -> SweepHandle:
        """A grid of one parameter with so many values."""
        name = f"s{next(self._numbers)}"
        parameters = [{"name": "lr", "integers": {"min": 1, "max": trials}}]
        self.api.create("gpusweeps", sweep_manifest(name, self.name, self.name, parameters, **spec))
        return SweepHandle(self.api, name, self.name)

    def until(self, job: JobHandle, what: str, probe: Callable[[Object], Any]) -> Any:
        return self.wait(f"{job.name} {what}", lambda: probe(job.status()))

    def running(self, job: JobHandle, attempt: int = 0) -> None:
        self.until(job, f"to run attempt {attempt}",
                   lambda s: s.get("phase") == "Running" and s.get("attempts") == attempt + 1)

    def finish(self, job: JobHandle, code: int = 0, rank: int = 0, attempt: int = 0, metrics: Sequence[str] = (),
               stop_signal: int = 0) -> None:
        """The command of this rank ends, as soon as it has begun."""
        def ended() -> bool:
            for pod in job.pods():
                if attempt_of(pod) == attempt and rank_of(pod) == rank and pod["status"].get("phase") == "Running":
                    try:
                        self.kubelet.finish(pod, code, metrics=metrics, stop_signal=stop_signal)
                        return True
                    except ApiError as error:
                        if error.code not in (404, 409):
                            raise
            return False
        self.wait(f"rank {rank} of attempt {attempt} of {job.name} to run", ended)

    def over_with_history(self, job: JobHandle) -> tuple[Any, ...]:
        """Besides, the step of its last checkpoint, and why earlier attempts ended and from where the next ones went on."""
        status = self.until(job, "to end", lambda s: s.get("phase") in ("Succeeded", "Failed") and s)
        ends = [(end["cause"], end.get("fromStep")) for end in status.get("history", [])]
        return *self.over(job), status.get("checkpoint", {}).get("step"), ends

    def over(self, job: JobHandle) -> tuple[str, str | None, int | None, int]:
        """(phase, reason, attempts, failures) of a job that has ended; it is deleted and leaves nothing."""
        status = self.until(job, "to end", lambda s: s.get("phase") in ("Succeeded", "Failed") and s)
        self.remove(job)
        return (status["phase"], status.get("reason"), status.get("attempts"), status.get("failures", 0))

    def remove(self, job: JobHandle) -> None:
        """Promise 2, counted from the later of the deletion and the operator's last start."""
        begin, bill = time.monotonic(), job.status().get("bill") or {}
        job.delete()
        self.wait(f"all of {job.name} to be marked for deletion", lambda: not self.unmarked(job))
        self.slowest_mark = max(self.slowest_mark, time.monotonic() - max(begin, self.supervisor.started))
        self.wait(f"{job.name} to be gone", lambda: not job.exists())
        self.wait(f"nothing to be left of {job.name}", lambda: not self.left_of(job))
        self._check_records(job, bill)

    def _check_records(self, job: JobHandle, bill: Object) -> None:
        """No ledger runs, so GpuBillRecords have all that the job has held. bill: what its status said before the end."""
        records = [r for r in self.api.list("gpubillrecords") if r["spec"]["jobUID"] == job.uid]
        kept = {s["number"]: s for record in records for s in record["spec"]["bill"]["segments"]}
        count = max((record["spec"]["bill"]["segmentCount"] for record in records), default=0)
        assert sorted(kept) == list(range(1, count + 1)), f"{job.name} had {bill}, kept is {records}"
        for segment in bill.get("segments", []):
            named = {"nodes": kept.get(segment["number"], {}).get("nodes"), **segment}
            assert kept.get(segment["number"]) == named, f"{job.name} had {bill}, kept is {records}"
        self.billed += [{"jobUid": job.uid, **segment} for segment in kept.values()]

    def children(self, job: JobHandle | None = None) -> Iterator[tuple[str, Object]]:
        """(kind, object); of all jobs without one."""
        for namespace, kind in itertools.product(self._namespaces, KINDS):
            for child in self.api.list(kind, namespace):
                if is_ours(child) and (not job or child["metadata"]["labels"].get(JOB_UID) == job.uid):
                    yield kind, child

    def unmarked(self, job: JobHandle) -> list[Object]:
        """Without Jobs that have ended: they stay for their logs, and the garbage collector deletes them."""
        return [c for kind, c in self.children(job) if "deletionTimestamp" not in c["metadata"]
                and not (kind == "jobs" and (c["status"].get("succeeded") or c["status"].get("failed")))]

    def left_of(self, job: JobHandle | None = None) -> list[str]:
        nodes = [node for name in self.node_names for node in [self.api.find("nodes", name)] if node]
        traces = [t for node in nodes if not job or job.uid in str(node) for t in node_traces(node)]
        return traces + [f"{kind} {child['metadata']['name']}" for kind, child in self.children(job)]
