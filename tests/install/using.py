# SPDX-License-Identifier: Apache-2.0
"""The examples, by the operator that runs as a pod, and what a renter asks about jobs; ddp-pytorch, which takes longest, is
left to tests/e2e and the demo."""

import functools
import os
import re
from typing import Any

from tests.install import document
from tests.install.site_under_test import Site
from tests.kit.jobs import JobHandle
from tests.kit.manifests import job_manifest
from tests.kit.paths import ROOT

# example, with one job of that name: the phase in which it ends
EXAMPLES = {"single-gpu": "Succeeded", "explicit-nodes": "Succeeded", "crash-then-succeed": "Succeeded",
            "slice-job": "Succeeded", "deadline": "Failed"}
QUESTIONS = "docs/operations.md", "### Output and end of a job"
# Its workers run on until they are deleted, and rank 1 is started when rank 0 listens.
GANG = ('echo "rank $RANK of $WORLD_SIZE"; trap "exit 0" TERM\n'
        'if [ "$RANK" = 0 ]; then while :; do nc -l -p "$MASTER_PORT" </dev/null >/dev/null 2>&1 || sleep 1; done & fi\n'
        'sleep 3600 & wait $!')


def check(site: Site) -> None:
    for pool in ("pool", "shared-pool"):
        site.kubectl("apply", "-f", _path(pool))
    # One of them was made for the demo's cluster: it leaves a mark in a folder of its node.
    site.kubectl("patch", "gpupool", "demo", "--type=merge", "-p", '{"spec": {"podSecurity": "Privileged"}}')
    site.api.create("gpujobs", job_manifest("gang", "default", "shared", GANG, gpus=2, slice={"count": 1}))
    # All at once: the pool's queue sorts them out.
    site.kubectl("apply", *(word for example in EXAMPLES for word in ("-f", _path(example))))
    for example, phase in EXAMPLES.items():
        job = JobHandle(site.api, example, "default")
        site.report.eventually(f"example {example} ends as {phase}", functools.partial(_ended, job, phase))
    _ask(site)
    site.kubectl("delete", "gpujobs", *EXAMPLES, "-n", "default")
    site.report.eventually("nothing is left on the nodes", lambda: (
        "gpupool.dev/lease" not in str(site.api.list("nodes")), ""))


def _path(example: str) -> str:
    return os.path.join(ROOT, "examples", example + ".yaml")


def _ended(job: JobHandle, phase: str) -> tuple[bool, Any]:
    found = job.status()
    return found.get("phase") == phase and not found.get("lease"), job.show()


def _ask(site: Site) -> None:
    """Jobs of each kind, by the documented commands."""
    report = site.report
    done, output = document.follow(site, *QUESTIONS, NAME="single-gpu")
    read = len(re.findall(r"^(?:0 \| )?single-gpu: rank 0 of 1 on ", output, re.M))
    report.check("the output of a job can be read after its end, with and without the plugin", done and read == 3, output)
    done, output = document.follow(site, *QUESTIONS, only="until kubectl", NAME="deadline")
    report.check("the wait for the end of a job ends when it has failed, and says so",
                 not done and " Failed " in output, output)
    gang = JobHandle(site.api, "gang", "default")
    report.eventually("a gang runs", lambda: (gang.phase() == "Running", gang.show()))
    # Without following: its output has no end.
    done, output = document.follow(site, *QUESTIONS, only="--prefix", NAME="gang", **{"logs -f": "logs"})
    ranks = set(re.findall(r"^\[pod/gang-1-(\d)/worker\] rank \1 of 2$", output, re.M))
    report.check("the output of all workers of a gang can be read", done and ranks == {"0", "1"}, output)
    site.kubectl("delete", "gpujobs", "gang", "-n", "default", "--wait=false")
