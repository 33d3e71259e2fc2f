# SPDX-License-Identifier: Apache-2.0
"""Rules for the end of a run."""

from tests.faults.checker.clock import NAME as CLOCK
from tests.kit.api import Api
from tests.kit.names import LEASE, MEMBER_LABEL, POOL_TAINT

OVER = ("Succeeded", "Failed")
CHILDREN = ("pods", "jobs", "statefulsets", "services")
EXPLAINED = "every job has ended or says why not"
NOTHING_LEFT = "nothing is left on nodes, of children or of finalizers"


def unexplained(api: Api) -> tuple[int, list[str]]:
    """(how many were looked at, complaints)."""
    jobs, complaints = [job for job in api.list("gpujobs") if job["metadata"]["name"] != CLOCK], []
    for job in jobs:
        status = job.get("status") or {}
        said = [c for c in status.get("conditions", []) if c["type"] in ("Reconciling", "Running", "Stalled", "Suspended")
                and c["status"] == "True" and c.get("reason")]
        if status.get("phase") not in OVER and not (status.get("reason") and status.get("message") and said):
            complaints.append(f"{job['metadata']['namespace']}/{job['metadata']['name']} has not ended: {status}")
    return len(jobs), complaints


def _ours(key: str) -> bool:
    return key.split("/")[0].endswith("gpupool.dev") or key.startswith("gpupool.dev")


def leftovers(api: Api) -> tuple[int, list[str]]:
    """(how many objects were looked at, complaints). For when all jobs and pools have been deleted."""
    nodes, complaints = api.list("nodes"), []
    count = len(nodes)
    for node in nodes:
        meta, kept = node["metadata"], (LEASE, POOL_TAINT)
        left = [f"taint {t['key']}={t.get('value')}" for t in node["spec"].get("taints", []) if t["key"] in kept]
        left += [f"label {k}" for k in meta.get("labels", {})
                 if k == MEMBER_LABEL or k.endswith("/lease") and _ours(k.replace(".node-restriction.kubernetes.io", ""))]
        left += [f"annotation {k}" for k in meta.get("annotations", {}) if _ours(k)]
        complaints += [f"{what} on node {meta['name']}" for what in left]
    for kind in CHILDREN:
        objects = api.list(kind)
        count += len(objects)
        for objekt in objects:
            meta = objekt["metadata"]
            if any(_ours(key) for key in (*meta.get("labels", {}), *meta.get("finalizers", []))):
                complaints.append(f"{kind} {meta['namespace']}/{meta['name']}")
    complaints += [f"GpuJob {j['metadata']['namespace']}/{j['metadata']['name']}" for j in api.list("gpujobs")
                   if j["metadata"]["name"] != CLOCK]
    return count, complaints
