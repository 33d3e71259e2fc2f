"""GpuJobs and GpuPools for tests, and what one asks of a job."""

import calendar
import json
import time

from .waiting import LIMIT, wait_for

LEASE = "gpupool.dev/lease"
LEASE_LABEL = "gpupool.dev.node-restriction.kubernetes.io/lease"
JOB_UID = "gpupool.dev/job-uid"
WORKER_FINALIZER = "gpupool.dev/worker"
GPU = "nvidia.com/gpu"


# Rank 0 lets the other ranks start: they wait until something listens on the master's port. It stays for a moment, since
# one that comes after the end of rank 0 would wait for minutes.
LISTEN = ('if [ "$RANK" = 0 ]; then while :; do '
          'nc -l -p "$MASTER_PORT" </dev/null >/dev/null 2>&1 || sleep 1; done & sleep 5; fi\n')


def shell(script, **container):
    return {"name": "worker", "image": "gpupool.dev/busybox:1", "imagePullPolicy": "IfNotPresent",
            "command": ["sh", "-c", script], **container}


def job_manifest(name, namespace, pool, script="sleep 3600", container=None, template=None, pod=None, **spec):
    """pod adds to the pod's spec, template replaces the whole template."""
    pod_spec = {"terminationGracePeriodSeconds": 1, "containers": [container or shell(script)], **(pod or {})}
    return {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuJob", "metadata": {"name": name, "namespace": namespace},
            "spec": {"pool": pool, "template": template or {"spec": pod_spec}, **spec}}


def pool_manifest(name, selector, **spec):
    return {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuPool", "metadata": {"name": name},
            "spec": {"nodeSelector": {"matchLabels": selector}, **spec}}


class JobHandle:
    """One GpuJob in the cluster; each question is a fresh read."""

    def __init__(self, api, name, namespace):
        self.api, self.name, self.namespace = api, name, namespace

    def read(self):
        return self.api.get("gpujobs", self.name, self.namespace)

    def exists(self):
        return self.api.find("gpujobs", self.name, self.namespace) is not None

    def status(self):
        return self.read().get("status") or {}

    def phase(self):
        return self.status().get("phase")

    def reason(self):
        return self.status().get("reason")

    def conditions(self):
        return {c["type"]: c for c in self.status().get("conditions", [])}

    def condition(self, name):
        return self.conditions().get(name, {}).get("status")

    def lease(self):
        return self.status().get("lease")

    def nodes(self):
        return [node["name"] for node in (self.lease() or {}).get("nodes", [])]

    def show(self):
        found = self.api.find("gpujobs", self.name, self.namespace)
        pods = [{"name": p["metadata"]["name"], "node": p["spec"].get("nodeName"), "status": p["status"]}
                for p in self.pods()]
        status = (found or {}).get("status") or {}
        held = [node["name"] for node in (status.get("lease") or {}).get("nodes", [])][:5]
        nodes = [self.api.find("nodes", name) for name in held]
        nodes = [{"labels": n["metadata"].get("labels"), "taints": n["spec"].get("taints"),
                  "allocatable": n["status"].get("allocatable")} for n in nodes if n]
        others = [(p["metadata"]["namespace"], p["metadata"]["name"], p["status"].get("phase"))
                  for p in self.api.list("pods") if p["spec"].get("nodeName") in held]
        return (f"status: {json.dumps(status)}\npods: {json.dumps(pods)[:4000]}\nits nodes: {json.dumps(nodes)}\n"
                f"all pods there: {others}")

    def pods(self):
        return [p for p in self.api.list("pods", self.namespace)
                if p["metadata"].get("labels", {}).get("gpupool.dev/job-name") == self.name]

    def wait_phase(self, *phases, limit=LIMIT):
        return self.wait(f"phase {' or '.join(phases)}", lambda s: s.get("phase") in phases and s, limit)

    def wait_reason(self, reason):
        return self.wait(f"reason {reason}", lambda s: s.get("reason") == reason and s)

    def wait_behind_others(self):
        return self.wait("place behind others", lambda s: s.get("reason") == "WaitingForNodes" and
                         "jobs before it in the queue come first" in s.get("message", ""))

    def wait_condition(self, name, value="True", limit=LIMIT):
        def holds(status):
            if name == "Complete" and status.get("phase") == "Failed":
                raise AssertionError(f"GpuJob {self.name} has failed: {status.get('reason')}: {status.get('message')}")
            found = [c for c in status.get("conditions", []) if c["type"] == name and c["status"] == value]
            return found and status
        return self.wait(f"condition {name}={value}", holds, limit)

    def wait(self, what, probe, limit=LIMIT):
        return wait_for(f"{what} of GpuJob {self.name}", lambda: probe(self.status()), limit, self.show)

    def wait_gone(self, limit=LIMIT):
        wait_for(f"GpuJob {self.name} to be gone", lambda: not self.exists(), limit, self.show)

    def patch(self, **spec):
        return self.api.patch("gpujobs", self.name, {"spec": spec}, self.namespace)

    def deadline_in(self, seconds):
        """Its deadline is so many seconds from now, and the operator knows; when that is. Starting took whatever it took."""
        return self._limit_in("activeDeadlineSeconds", lambda status: status["startTime"], seconds)

    def start_timeout_in(self, seconds):
        """The same of startTimeoutSeconds."""
        return self._limit_in("startTimeoutSeconds", lambda status: status["lease"]["since"], seconds)

    def _limit_in(self, field, begin_of, seconds):
        begin = calendar.timegm(time.strptime(begin_of(self.status()), "%Y-%m-%dT%H:%M:%SZ"))
        limit = int(time.time()) - begin + seconds
        generation = self.patch(**{field: limit})["metadata"]["generation"]
        self.wait(f"{field} to be seen", lambda s: s.get("observedGeneration") == generation)
        return begin + limit

    def delete(self):
        self.api.delete("gpujobs", self.name, self.namespace)

    def events(self):
        return [e for e in self.api.list("events", self.namespace) if e["regarding"].get("name") == self.name]
