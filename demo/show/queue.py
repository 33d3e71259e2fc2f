# SPDX-License-Identifier: Apache-2.0
"""`make demo PART=queue`: a training on borrowed nodes makes room for a job with a guarantee, and goes on later."""

import json
from typing import Any

from demo.show import saved_training
from demo.show.follow import follow, has_succeeded
from demo.show.kubectl import Kubectl
from demo.show.saved_training import TIMEOUT, Undisturbed
from tests.kit.api import Object
from tests.kit.manifests import job_manifest

POOL, OWNERS, GUESTS = "demo", "owners", "guests"
TRAINING, FIRM = "training", "urgent"
QUEUE = {"tenants": [{"name": OWNERS, "namespaces": [OWNERS], "guaranteed": 2},
                     {"name": GUESTS, "namespaces": [GUESTS]}],
         "yield": {"minRunSeconds": 5}}


def prepare(kubectl: Kubectl) -> None:
    for namespace in (OWNERS, GUESTS):
        kubectl.run("create", "namespace", namespace)
    saved_training.make_volume(kubectl, GUESTS)


def run(kubectl: Kubectl) -> list[str]:
    """Prints how it goes; returns what did not come as promised."""
    change = json.dumps({"spec": {"queue": QUEUE}})
    print(f"kubectl patch gpool {POOL} --type=merge -p '{change}'")
    kubectl.run("patch", "gpool", POOL, "--type=merge", "-p", change)
    saved_training.submit(kubectl, GUESTS, TRAINING)
    with saved_training.undisturbed() as other:
        return _make_room(kubectl, other)


def _make_room(kubectl: Kubectl, other: Undisturbed) -> list[str]:
    _follow(kubectl, GUESTS, TRAINING, lambda s: s.get("phase") == "Running")
    for name in ("first", "second"):
        _submit(kubectl, GUESTS, name, 15)
    saved_training.wait_saved(TRAINING)
    step = saved_training.saved_step(TRAINING)
    print(f"\n{GUESTS}/{TRAINING} has saved step {step}; {GUESTS}/second waits for a node")
    _show(kubectl, GUESTS, "second")

    print(f"\n{OWNERS}/{FIRM} comes, for 2 GPUs that {OWNERS} is guaranteed. After 10 s it claims them", flush=True)
    _submit(kubectl, OWNERS, FIRM, 10, 2)
    _follow(kubectl, OWNERS, FIRM, lambda s: (s.get("lease") or {}).get("state") == "Awaiting")
    _show(kubectl, OWNERS, FIRM)
    _follow(kubectl, OWNERS, FIRM, lambda s: s.get("phase") in ("Running", "Succeeded"))
    print(f"\n{OWNERS}/{FIRM} runs")
    _show(kubectl, GUESTS, TRAINING)
    _follow(kubectl, OWNERS, FIRM, has_succeeded)
    status = _follow(kubectl, GUESTS, TRAINING, has_succeeded)
    print("\n" + saved_training.events_of(kubectl, GUESTS, TRAINING))
    return _problems(status) + saved_training.compare(status["message"], other)


def _submit(kubectl: Kubectl, namespace: str, name: str, seconds: int, gpus: int = 1) -> None:
    manifest = job_manifest(name, namespace, POOL, f"sleep {seconds}", gpus=gpus, rendezvous="None",
                            activeDeadlineSeconds=60)
    kubectl.apply_text(json.dumps(manifest))


def _follow(kubectl: Kubectl, namespace: str, job: str, done: Any) -> Object:
    return follow(kubectl, job, done, TIMEOUT, namespace)


def _show(kubectl: Kubectl, namespace: str, job: str) -> None:
    """The queue, and why the job waits."""
    for command in (("gpupool", "queue", POOL), ("gpupool", "why", "-n", namespace, job)):
        print(f"\n$ kubectl {' '.join(command)}\n{kubectl.run(*command).rstrip()}", flush=True)


def _problems(status: Object) -> list[str]:
    problems = []
    if (status["attempts"], status.get("yields"), status.get("failures", 0)) != (2, 1, 0):
        problems.append(f"the training did not make room once, at no charge: {json.dumps(status)}")
    if "begins at step 0" in status["message"]:
        problems.append("the training did not go on from its checkpoint")
    return problems
