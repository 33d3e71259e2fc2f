# SPDX-License-Identifier: Apache-2.0
"""One job from phase to phase."""

import json
import time
from typing import Callable

from demo.show.errors import DemoError
from demo.show.kubectl import Kubectl
from tests.kit.api import Object


def follow(kubectl: Kubectl, job: str, done: Callable[[Object], bool], timeout: float,
           namespace: str = "default") -> Object:
    """Prints each change of the phase and its message until the status is as wanted; returns the status."""
    told, end = "", time.monotonic() + timeout
    while True:
        status = dict(json.loads(kubectl.run("get", "gjob", job, "-n", namespace, "-o", "json")).get("status") or {})
        now = f"{status.get('phase')}: {status.get('message', '').splitlines()[0] if status.get('message') else ''}"
        if now != told:
            print(now, flush=True)
            told = now
        if done(status):
            return status
        if status.get("phase") in ("Succeeded", "Failed", "Invalid"):
            raise DemoError(f"the job is {status['phase']}: {status.get('message')}")
        if time.monotonic() > end:
            raise DemoError(f"the job is not there after {timeout} s: {now}")
        time.sleep(0.3)


def has_succeeded(status: Object) -> bool:
    return status.get("phase") == "Succeeded"
