# SPDX-License-Identifier: Apache-2.0
"""`make demo PART=slices`: two jobs share one GPU; one takes all memory that it can get, the other never notices."""

import json
import os
import re

from demo.show import demo_cluster
from demo.show.errors import DemoError
from demo.show.follow import follow, has_succeeded
from demo.show.kubectl import Kubectl
from tests.kit.cuda_program import GREEDY, STEADY, cuda_worker
from tests.kit.manifests import job_manifest

POOL, STEADY_JOB, GREEDY_JOB = "shared", "steady", "greedy"
SLICES, SLICE_MIB = {STEADY_JOB: 4, GREEDY_JOB: 3}, 2303
USES_MIB, TIMEOUT = 8000, 120
GATE = "gpupool-demo-slices"  # in the node's driver folder, which workers see as /driver
ENFORCE = "nd"  # the node whose slices are limited


def prepare(kubectl: Kubectl) -> None:
    # The simulated driver is a folder of the node.
    kubectl.run("patch", "gpool", POOL, "--type=merge", "-p", '{"spec": {"podSecurity": "Privileged"}}')


def run(kubectl: Kubectl) -> list[str]:
    """Prints how it goes; returns what did not come as promised."""
    print(f"Each slice of the GPU has {SLICE_MIB} MiB. {STEADY_JOB} has {SLICES[STEADY_JOB]} and uses {USES_MIB} MiB; "
          f"{GREEDY_JOB} has {SLICES[GREEDY_JOB]} and takes memory until it is refused")
    _submit(kubectl, STEADY_JOB, STEADY, str(USES_MIB), f"/driver/{GATE}")
    follow(kubectl, STEADY_JOB, lambda s: s.get("phase") == "Running", TIMEOUT)
    print(f"\n{GREEDY_JOB} comes", flush=True)
    _submit(kubectl, GREEDY_JOB, GREEDY, "5")
    follow(kubectl, GREEDY_JOB, has_succeeded, TIMEOUT)
    gate = os.path.join(demo_cluster.folder(), "nodes", ENFORCE, "var/lib/gpupool/driver", GATE)
    with open(gate, "w", encoding="ascii"):
        pass
    follow(kubectl, STEADY_JOB, has_succeeded, TIMEOUT)
    return _report(kubectl)


def _submit(kubectl: Kubectl, name: str, program: str, *arguments: str) -> None:
    container, pod = cuda_worker(program, *arguments)
    kubectl.apply_text(json.dumps(job_manifest(name, "default", POOL, container=container, pod=pod, gpus=1,
                                               slice={"count": SLICES[name]}, activeDeadlineSeconds=TIMEOUT)))


def _report(kubectl: Kubectl) -> list[str]:
    logs = {}
    for name in (GREEDY_JOB, STEADY_JOB):
        logs[name] = kubectl.run("logs", f"job/{name}-1")
        print(f"\n$ kubectl logs job/{name}-1\n{logs[name].rstrip()}")
    taken = re.search(r"got (\d+) MiB, then error 2\b", logs[GREEDY_JOB])
    if not taken:
        raise DemoError(f"{GREEDY_JOB} did not run out of memory")
    limit, problems = SLICES[GREEDY_JOB] * SLICE_MIB, []
    print(f"\n{GREEDY_JOB} got {taken[1]} of its {limit} MiB, then CUDA_ERROR_OUT_OF_MEMORY")
    if int(taken[1]) > limit:
        problems.append(f"{GREEDY_JOB} got more than its slices have")
    if "refused 0 times" not in logs[STEADY_JOB]:
        problems.append(f"{STEADY_JOB} was refused memory that its slices have")
    else:
        print(f"{STEADY_JOB} was never refused")
    return problems
