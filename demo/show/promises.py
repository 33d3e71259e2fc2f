# SPDX-License-Identifier: Apache-2.0
"""What each example promises, and whether it came true."""

from dataclasses import dataclass

from tests.kit.api import Object


@dataclass(frozen=True)
class Promise:
    file: str
    job: str
    phase: str
    reason: str
    attempts: int
    waits: bool = False  # promised to be in this phase when all others have ended


# In the order in which they are applied; a file may hold several jobs.
PROMISES = (
    Promise("single-gpu.yaml", "single-gpu", "Succeeded", "Completed", 1),
    Promise("crash-then-succeed.yaml", "crash-then-succeed", "Succeeded", "Completed", 2),
    Promise("crash-exhausts.yaml", "crash-exhausts", "Failed", "BackoffLimitExceeded", 2),
    Promise("explicit-nodes.yaml", "explicit-nodes", "Succeeded", "Completed", 1),
    Promise("deadline.yaml", "deadline", "Failed", "DeadlineExceeded", 1),
    Promise("ddp-pytorch.yaml", "ddp-pytorch", "Succeeded", "Completed", 1),
    Promise("slice-job.yaml", "slice-job", "Succeeded", "Completed", 1),
    Promise("mixed-slices.yaml", "one-slice", "Succeeded", "Completed", 1),
    Promise("mixed-slices.yaml", "three-slices", "Succeeded", "Completed", 1),
    Promise("mixed-slices.yaml", "ddp-slices", "Succeeded", "Completed", 1),
    Promise("torchrun.yaml", "torchrun", "Succeeded", "Completed", 1),
    Promise("independent-tasks.yaml", "independent-tasks", "Succeeded", "Completed", 1),
    Promise("single-gpus.yaml", "gpu-a", "Succeeded", "Completed", 1),
    Promise("single-gpus.yaml", "gpu-b", "Succeeded", "Completed", 1),
    Promise("single-gpus.yaml", "both-gpus", "Succeeded", "Completed", 1),
    Promise("too-large.yaml", "too-large", "Queued", "TooLarge", 0, waits=True),
)


def settled(promise: Promise, job: Object | None) -> bool:
    """True if nothing more will happen to the job, or it has come to where it is promised to wait."""
    if job is None:
        return False
    status = job.get("status", {})
    if promise.waits:
        return (status.get("phase"), status.get("reason")) == (promise.phase, promise.reason)
    return status.get("phase") in ("Succeeded", "Failed") and not status.get("lease")


def broken(promise: Promise, job: Object | None) -> str | None:
    """Nothing if the promise was kept, else what was promised and what came."""
    status = (job or {}).get("status", {})
    got = (status.get("phase"), status.get("reason"), status.get("attempts", 0))
    wanted = (promise.phase, promise.reason, promise.attempts)
    if got == wanted:
        return None
    return f"{promise.job}: promised {_words(*wanted)}; got {_words(*got)}: {status.get('message', '')}"


def _words(phase: str | None, reason: str | None, attempts: int) -> str:
    return f"{phase} ({reason}) after {attempts} attempts"
