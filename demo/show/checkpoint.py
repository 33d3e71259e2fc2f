# SPDX-License-Identifier: Apache-2.0
"""`make demo PART=checkpoint`: a node is drained under a training of two workers, which goes on from its checkpoint elsewhere."""

import json

from demo.show import saved_training
from demo.show.follow import follow, has_succeeded
from demo.show.kubectl import Kubectl
from demo.show.saved_training import FIRST_STEP, TIMEOUT, Undisturbed
from tests.kit.api import Object

JOB, NAMESPACE = "checkpoint", "default"


def prepare(kubectl: Kubectl) -> None:
    saved_training.make_volume(kubectl, NAMESPACE)


def run(kubectl: Kubectl) -> list[str]:
    """Prints how it goes; returns what did not come as promised."""
    saved_training.submit(kubectl, NAMESPACE, JOB)
    with saved_training.undisturbed() as other:
        return _drain(kubectl, other)


def _drain(kubectl: Kubectl, other: Undisturbed) -> list[str]:
    status = follow(kubectl, JOB, lambda s: s.get("phase") == "Running", TIMEOUT)
    saved_training.wait_saved(JOB)
    left = status["lease"]["nodes"][0]["name"]
    print(f"\nstep {saved_training.saved_step(JOB)} is saved; kubectl annotate node {left} gpupool.dev/drain=", flush=True)
    kubectl.run("annotate", "node", left, "gpupool.dev/drain=")
    follow(kubectl, JOB, lambda s: s.get("attempts") == 2 and s.get("phase") == "Running", TIMEOUT)
    print(kubectl.run("get", "gjob", JOB, "-n", NAMESPACE).rstrip())
    kubectl.run("annotate", "node", left, "gpupool.dev/drain-")
    status = follow(kubectl, JOB, has_succeeded, TIMEOUT)
    print("\n" + saved_training.events_of(kubectl, NAMESPACE, JOB))
    return _problems(status, left) + saved_training.compare(status["message"], other)


def _problems(status: Object, left: str) -> list[str]:
    problems, ends = [], status.get("history") or [{}]
    if (ends[0].get("cause"), ends[0].get("left"), status["attempts"], status.get("failures", 0)) != ("Draining", left, 2, 0):
        problems.append(f"the job did not move off {left}: {json.dumps(status)}")
    if ends[0].get("fromStep", 0) < FIRST_STEP:
        problems.append(f"the job did not go on from step {FIRST_STEP} or a later one: {json.dumps(ends)}")
    return problems
