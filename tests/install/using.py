"""The examples, by the operator that runs as a pod."""

import os

from support.jobs import JobHandle
from support.operator_process import ROOT

# example: (jobs, phase in which they end)
EXAMPLES = {
    "single-gpu": (["single-gpu"], "Succeeded"), "explicit-nodes": (["explicit-nodes"], "Succeeded"),
    "ddp-pytorch": (["ddp-pytorch"], "Succeeded"), "crash-then-succeed": (["crash-then-succeed"], "Succeeded"),
    "slice-job": (["slice-job"], "Succeeded"), "deadline": (["deadline"], "Failed"),
}


def check(site):
    for pool in ("pool", "shared-pool"):
        site.kubectl("apply", "-f", os.path.join(ROOT, "examples", pool + ".yaml"))
    # One of them was made for the demo's cluster: it leaves a mark in a folder of its node.
    site.kubectl("patch", "gpupool", "demo", "--type=merge", "-p", '{"spec": {"podSecurity": "Privileged"}}')
    for example, (names, phase) in EXAMPLES.items():
        site.kubectl("apply", "-f", os.path.join(ROOT, "examples", example + ".yaml"))
        for name in names:
            job = JobHandle(site.api, name, "default")
            site.report.eventually(f"example {example} ends as {phase}", lambda job=job: _ended(job, phase), 240)
    site.kubectl("apply", "-f", os.path.join(ROOT, "examples"), "--dry-run=server")
    site.kubectl("delete", "gpujobs", "--all", "-n", "default")
    site.report.eventually("nothing is left on the nodes", lambda: (
        "gpupool.dev/lease" not in str(site.api.list("nodes")), ""), 60)


def _ended(job, phase):
    found = job.status()
    return found.get("phase") == phase and not found.get("lease"), job.show()
