"""One pool with its nodes and a namespace: where scenarios run, several of them at the same time."""

import itertools
import time

from clearing import clear
from kubelet import attempt_of, rank_of
from support.api import ApiError
from support.jobs import JOB_UID, JobHandle, job_manifest, pool_manifest
from support.leaks import is_ours, node_traces
from support.waiting import wait_for

POOL_LABEL = "gpupool.dev.node-restriction.kubernetes.io/pool"
LIMIT = 120  # only for hangs
KINDS = ("pods", "jobs", "statefulsets", "services")


class World:
    def __init__(self, api, nodes, kubelet, name, node_count=3):
        self.api, self.nodes, self.kubelet, self.name = api, nodes, kubelet, name
        self.node_names = [f"{name}-n{i}" for i in range(node_count)]
        self.supervisor = None  # of the operator of this moment
        self.slowest_mark = 0.0  # seconds until all that was left of a job was marked for deletion
        self._numbers = itertools.count(1)

    def set_up(self):
        self.api.create("namespaces", {"metadata": {"name": self.name}})
        self.add_pool(self.name, self.node_names)
        self.wait("the service account", lambda: self.api.find("serviceaccounts", "default", self.name))

    def add_pool(self, pool, node_names):
        label = {POOL_LABEL: pool}
        self.api.create("gpupools", pool_manifest(pool, label, nodeLossTimeoutSeconds=1))
        for name in node_names:
            self.nodes.add(name, label)

    def add_shared_pool(self, pool, node):
        """One GPU in ten slices."""
        self.api.create("gpupools", pool_manifest(pool, {POOL_LABEL: pool}, sharing={"deviceSplitCount": 10}))
        self.nodes.add(node, {POOL_LABEL: pool}, gpus=0)
        self.kubelet.plugins.add(node)

    def remove_pool(self, pool, nodes):
        self.api.delete("gpupools", pool)
        self.wait(f"pool {pool} to be gone", lambda: not self.api.find("gpupools", pool))
        for node in nodes:
            self.wait(f"node {node} to be clean of pool {pool}",
                      lambda node=node: "gpupool.dev" not in str(self.api.get("nodes", node)["spec"].get("taints", "")))
            self.kubelet.plugins.remove(node)
            self.nodes.remove(node)

    def tear_down(self):
        for job in self.api.list("gpujobs", self.name):
            self.api.delete("gpujobs", job["metadata"]["name"], self.name)
        self.wait("all jobs to be gone", lambda: not self.api.list("gpujobs", self.name))
        self.leave()

    def leave(self):
        """For a world without jobs."""
        self.api.delete("gpupools", self.name)
        self.api.delete("namespaces", self.name)
        for name in self.node_names:
            self.nodes.remove(name)

    def abandon(self):
        """For one in which something has failed, when no operator runs any more."""
        clear(self.api, [self.name], [self.name, self.name + "-extra", self.name + "-shared"])
        for name in [name for name in self.nodes.names() if name.startswith(self.name + "-")]:
            self.kubelet.plugins.remove(name)
            self.nodes.remove(name)

    def wait(self, what, probe, limit=LIMIT):
        return wait_for(what, probe, limit, lambda: f"in {self.name}: {self.show()}\n{self.supervisor.show()}")

    def show(self):
        jobs = [JobHandle(self.api, j["metadata"]["name"], self.name).show() for j in self.api.list("gpujobs", self.name)]
        return "\n".join([*jobs, *self.left_of()])

    def submit(self, gpus=1, pool=None, **spec):
        name = f"j{next(self._numbers)}"
        made = self.api.create("gpujobs", job_manifest(name, self.name, pool or self.name, gpus=gpus, **spec))
        job = JobHandle(self.api, name, self.name)
        job.uid = made["metadata"]["uid"]
        return job

    def until(self, job, what, probe):
        return self.wait(f"{job.name} {what}", lambda: probe(job.status()))

    def running(self, job, attempt=0):
        self.until(job, f"to run attempt {attempt}",
                   lambda s: s.get("phase") == "Running" and s.get("attempts") == attempt + 1)

    def finish(self, job, code=0, rank=0, attempt=0):
        """The command of this rank ends, as soon as it has begun."""
        def ended():
            for pod in job.pods():
                if attempt_of(pod) == attempt and rank_of(pod) == rank and pod["status"].get("phase") == "Running":
                    try:
                        self.kubelet.finish(pod, code)
                        return True
                    except ApiError as error:
                        if error.code not in (404, 409):
                            raise
            return False
        self.wait(f"rank {rank} of attempt {attempt} of {job.name} to run", ended)

    def over(self, job):
        """(phase, reason, attempts, failures) of a job that has ended; it is deleted and leaves nothing."""
        status = self.until(job, "to end", lambda s: s.get("phase") in ("Succeeded", "Failed") and s)
        self.remove(job)
        return (status["phase"], status.get("reason"), status.get("attempts"), status.get("failures", 0))

    def remove(self, job):
        """Promise 2, counted from the later of the deletion and the operator's last start."""
        begin = time.monotonic()
        job.delete()
        self.wait(f"all of {job.name} to be marked for deletion", lambda: not self.unmarked(job))
        self.slowest_mark = max(self.slowest_mark, time.monotonic() - max(begin, self.supervisor.started))
        self.wait(f"{job.name} to be gone", lambda: not job.exists())
        self.wait(f"nothing to be left of {job.name}", lambda: not self.left_of(job))

    def children(self, job=None):
        """(kind, object); of all jobs without one."""
        for kind in KINDS:
            for child in self.api.list(kind, self.name):
                if is_ours(child) and (not job or child["metadata"]["labels"].get(JOB_UID) == job.uid):
                    yield kind, child

    def unmarked(self, job):
        return [c for _, c in self.children(job) if "deletionTimestamp" not in c["metadata"]]

    def left_of(self, job=None):
        nodes = [node for name in self.node_names for node in [self.api.find("nodes", name)] if node]
        traces = [t for node in nodes if not job or job.uid in str(node) for t in node_traces(node)]
        return traces + [f"{kind} {child['metadata']['name']}" for kind, child in self.children(job)]
