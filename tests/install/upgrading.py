# SPDX-License-Identifier: Apache-2.0
"""helm upgrade to a later chart while jobs run: new pods of operator and plugin, and no job notices."""

import collections
import os
import shutil
import tempfile
import time
from typing import Any

from tests.deploy.chart import CHART
from tests.install.site_under_test import Site
from tests.kit.api import Object
from tests.kit.follower import LISTED, Follower
from tests.kit.jobs import JobHandle
from tests.kit.kubectl import kubectl
from tests.kit.manifests import job_manifest
from tests.kit.names import JOB_NAME, SYSTEM_NAMESPACE

WHOLE, SLICES = 3, 17  # 20 jobs
NEW = ("--set", "operator.podAnnotations.version=next,devicePlugin.podAnnotations.version=next")


class Observer:
    """All that nodes and the jobs that run said of leases, from before the upgrade until after it."""

    def __init__(self, site: Site, jobs: list[JobHandle]) -> None:
        self.marks: dict[str, set[str]] = {}  # of each node
        self.states: dict[str, set[tuple]] = {}  # of each job
        self.changes: collections.Counter[str] = collections.Counter()  # by kind
        self._jobs = {job.name for job in jobs}
        self._followers = [Follower(site.api.path, "nodes", self._note_node),
                           Follower(site.api.path, "gpujobs", self._note_job, namespace="default")]

    def __enter__(self) -> "Observer":
        for follower in self._followers:
            follower.list().start()
        return self

    def __exit__(self, *_: Any) -> None:
        for follower in self._followers:
            follower.close()
            follower.join(10)

    def _note_node(self, what: str, node: Object) -> None:
        meta = node["metadata"]
        marks = sorted((t["key"], t.get("value")) for t in node["spec"].get("taints", []) if "gpupool.dev" in t["key"])
        marks += sorted(pair for pair in meta.get("labels", {}).items() if "gpupool.dev" in pair[0])
        self.marks.setdefault(meta["name"], set()).add(str(marks))
        self.changes["nodes"] += what != LISTED

    def _note_job(self, what: str, job: Object) -> None:
        if job["metadata"]["name"] in self._jobs:
            status = job.get("status", {})
            self.states.setdefault(job["metadata"]["name"], set()).add(
                (status.get("phase"), status.get("reason"), status.get("attempts"), str(status.get("lease"))))
        self.changes["jobs"] += what != LISTED

    def saw_all(self) -> bool:
        """To be asked before the end: no change was missed."""
        return all(follower.is_alive() and follower.problem is None for follower in self._followers)

    def problems(self) -> list[str | None]:
        return [follower.problem for follower in self._followers]


def submit_slices(site: Site) -> list[Any]:
    return [submit(site, f"share-{n}", "shared", slice={"count": 1}) for n in range(SLICES)]


def check(site: Site, slices: list[JobHandle]) -> Any:
    """Returns one of the jobs, which still runs."""
    report = site.report
    jobs = slices + [submit(site, f"run-{n}", "demo", gpus=1) for n in range(WHOLE)]
    report.eventually(f"{len(jobs)} jobs run", lambda: all_run(jobs))
    names = [job.name for job in jobs]
    before = workers(site, *names)
    with Observer(site, jobs) as seen:
        begin = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            site.helm("upgrade", *NEW, chart=_next_chart(folder))
        report.eventually("operators and plugins are replaced", lambda: _rolled_out(site))
        report.check(f"within {time.monotonic() - begin:.0f} s", True)
        places = {pod["spec"]["nodeName"] for pod in site.pods("operator") if "deletionTimestamp" not in pod["metadata"]}
        report.check("the new operators run on nodes that are in no pool", places and places <= {"ne", "nf"}, places)
        late = submit(site, "late", "shared", slice={"count": 1})
        report.eventually("a job that comes after the upgrade runs", lambda: all_run([late]))
        late.delete()
        report.check(f"every change was seen: {seen.changes['nodes']} of nodes, {seen.changes['jobs']} of jobs",
                     seen.saw_all() and len(seen.states) == len(jobs) and len(seen.marks) == 6, seen.problems())
    after = workers(site, *names)
    report.check("all workers are the same pods, and none was restarted", len(before) == len(jobs) and after == before,
                 (before, after))
    flaps = {name: marks for name, marks in seen.marks.items() if len(marks) != 1}
    report.check("no taint or label of gpupool changed on any node", not flaps, flaps)
    gaps = {name: states for name, states in seen.states.items() if len(states) != 1 or min(states)[0] != "Running"}
    report.check("every job said the same all the time: Running, in the same attempt, on the same lease", not gaps, gaps)
    stays, *others = jobs[SLICES:]
    # The slices take a kubelet of Kubernetes 1.20 a while; what comes next does not need them.
    site.kubectl("delete", "gpujobs", "-n", "default", "--wait=false", *(job.name for job in jobs if job is not stays))
    report.eventually("the new operator ends what is deleted", lambda: (
        not any(job.exists() for job in others), [job.show() for job in others if job.exists()]))
    return stays


def _next_chart(folder: str) -> Any:
    chart = os.path.join(folder, "gpupool")
    shutil.copytree(CHART, chart)
    path = os.path.join(chart, "Chart.yaml")
    with open(path, encoding="utf-8") as source:
        text = source.read()
    with open(path, "w", encoding="utf-8") as out:
        out.write(text.replace("ersion: 0.1.0", "ersion: 0.99.0"))
    return chart


def submit(site: Site, name: str, pool: str, **spec: Any) -> Any:
    manifest = job_manifest(name, "default", pool, "trap 'exit 0' TERM; sleep 3600 & wait", **spec)
    site.api.create("gpujobs", manifest)
    return JobHandle(site.api, name, "default")


def all_run(jobs: list[JobHandle]) -> tuple[bool, Any]:
    phases = {job.name: job.phase() for job in jobs}
    return set(phases.values()) == {"Running"}, phases


def workers(site: Site, *jobs: str) -> Any:
    """{UID: restarts of its containers}, of all jobs or of these."""
    found = {}
    for pod in site.api.list("pods", "default"):
        job = pod["metadata"].get("labels", {}).get(JOB_NAME)
        if job and (not jobs or job in jobs):
            found[pod["metadata"]["uid"]] = [c["restartCount"] for c in pod["status"].get("containerStatuses", [])]
    return found


def _rolled_out(site: Site) -> tuple[Any, Any]:
    new = [pod for part in ("operator", "device-plugin") for pod in site.pods(part)
           if pod["metadata"].get("annotations", {}).get("version") == "next"]
    ready = site.ready("operator", 2)[0] and site.ready("device-plugin", 4)[0]
    return ready and len(new) == 6, kubectl(site.cluster.kubeconfig, "-n", SYSTEM_NAMESPACE, "get", "pods", "-o", "wide")
