"""The examples, by the operator that runs as a pod; ddp-pytorch, which takes longest, is left to tests/e2e and the demo."""

import os

from support.jobs import JobHandle
from support.operator_process import ROOT

# example, with one job of that name: the phase in which it ends
EXAMPLES = {"single-gpu": "Succeeded", "explicit-nodes": "Succeeded", "crash-then-succeed": "Succeeded",
            "slice-job": "Succeeded", "deadline": "Failed"}


def check(site):
    for pool in ("pool", "shared-pool"):
        site.kubectl("apply", "-f", _path(pool))
    # One of them was made for the demo's cluster: it leaves a mark in a folder of its node.
    site.kubectl("patch", "gpupool", "demo", "--type=merge", "-p", '{"spec": {"podSecurity": "Privileged"}}')
    # All at once: the pool's queue sorts them out.
    site.kubectl("apply", *(word for example in EXAMPLES for word in ("-f", _path(example))))
    for example, phase in EXAMPLES.items():
        job = JobHandle(site.api, example, "default")
        site.report.eventually(f"example {example} ends as {phase}", lambda job=job, phase=phase: _ended(job, phase))
    site.kubectl("delete", "gpujobs", *EXAMPLES, "-n", "default")
    site.report.eventually("nothing is left on the nodes", lambda: (
        "gpupool.dev/lease" not in str(site.api.list("nodes")), ""))


def _path(example):
    return os.path.join(ROOT, "examples", example + ".yaml")


def _ended(job, phase):
    found = job.status()
    return found.get("phase") == phase and not found.get("lease"), job.show()
