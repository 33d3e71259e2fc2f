"""helm upgrade while jobs run: new pods of operator and plugin, and no job notices."""

import threading
import time

from support.jobs import JobHandle, job_manifest
from support.cluster import kubectl
from site_under_test import NAMESPACE

WHOLE, SLICES = 3, 17  # 20 jobs
NEW = ("--set", "operator.podAnnotations.version=next,devicePlugin.podAnnotations.version=next")


class Observer(threading.Thread):
    """Looks at nodes and jobs all the time: what changes for a moment is seen, if it lasts 50 ms."""

    def __init__(self, site):
        super().__init__(daemon=True)
        self._site, self._over = site, threading.Event()
        self.taints, self.phases, self.looks = set(), set(), 0
        self.start()

    def run(self):
        while not self._over.wait(0.05):
            self.taints.add(str(sorted((n["metadata"]["name"], t["key"], t.get("value"))
                                       for n in self._site.api.list("nodes") for t in n["spec"].get("taints", [])
                                       if t["key"].startswith("gpupool.dev/"))))
            self.phases |= {job["status"].get("phase") for job in self._site.api.list("gpujobs", "default")}
            self.looks += 1

    def end(self):
        self._over.set()
        self.join()


def check(site):
    report = site.report
    jobs = [_submit(site, f"run-{n}", "demo", gpus=1) for n in range(WHOLE)]
    jobs += [_submit(site, f"share-{n}", "shared", slice={"count": 1}) for n in range(SLICES)]
    report.eventually(f"{len(jobs)} jobs run", lambda: _all_run(jobs), 180)
    before = _workers(site)
    observer = Observer(site)
    site.helm("upgrade", *NEW)
    begin = time.monotonic()
    report.eventually("operators and plugins are replaced", lambda: _rolled_out(site), 240)
    report.check(f"within {time.monotonic() - begin:.0f} s", True)
    late = _submit(site, "late", "shared", slice={"count": 1})
    report.eventually("a job that comes after the upgrade runs", lambda: _all_run([late]), 120)
    observer.end()
    late.delete()
    report.check("all workers are the same pods, and none was restarted", _workers(site, without="late") == before,
                 (before, _workers(site)))
    report.check(f"no taint of a lease changed, in {observer.looks} looks", len(observer.taints) == 1, observer.taints)
    report.check("no job said anything but Running", observer.phases - {"Running", "Queued", "Starting", None} == set()
                 and _all_run(jobs)[0], observer.phases)
    site.kubectl("delete", "gpujobs", "--all", "-n", "default", "--wait=false")
    report.eventually("the new operator ends them all", lambda: (
        not site.api.list("gpujobs", "default") and not _workers(site), ""), 120)


def _submit(site, name, pool, **spec):
    manifest = job_manifest(name, "default", pool, "trap 'exit 0' TERM; sleep 3600 & wait", **spec)
    site.api.create("gpujobs", manifest)
    return JobHandle(site.api, name, "default")


def _all_run(jobs):
    phases = {job.name: job.phase() for job in jobs}
    return set(phases.values()) == {"Running"}, phases


def _workers(site, without=None):
    return {pod["metadata"]["uid"]: [c["restartCount"] for c in pod["status"].get("containerStatuses", [])]
            for pod in site.api.list("pods", "default")
            if pod["metadata"].get("labels", {}).get("gpupool.dev/job-name") not in (None, without)}


def _rolled_out(site):
    new = [pod for part in ("operator", "device-plugin") for pod in site.pods(part)
           if pod["metadata"].get("annotations", {}).get("version") == "next"]
    ready = site.ready("operator", 2)[0] and site.ready("device-plugin", 4)[0]
    return ready and len(new) == 6, kubectl(site.cluster.kubeconfig, "-n", NAMESPACE, "get", "pods", "-o", "wide")
