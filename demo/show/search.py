# SPDX-License-Identifier: Apache-2.0
"""A sweep: sixteen trials look for the least value of a function."""

import json
import os
import time

from demo.show.errors import DemoError
from demo.show.kubectl import Kubectl
from tests.kit.paths import EXAMPLES

FILE, SWEEP, BEST = "sweep-optimum.yaml", "optimum", "0.25"
SHOW = ("gpupool", "sweep", "show", "-n", "default", SWEEP)
TIMEOUT = 240


def run(kubectl: Kubectl) -> list[str]:
    """Prints how it goes; returns what did not come as promised."""
    kubectl.apply(os.path.join(EXAMPLES, FILE))
    end, told = time.monotonic() + TIMEOUT, ""
    while not (status := _status(kubectl)).get("completionTime"):
        if time.monotonic() > end:
            raise DemoError(f"sweep {SWEEP} has not ended after {TIMEOUT} s: {json.dumps(status)}")
        if status.get("message", "") != told:
            told = status["message"]
            print(told, flush=True)
        time.sleep(1)
    print(f"$ kubectl {' '.join(SHOW)}\n{kubectl.run(*SHOW).rstrip()}")
    found = (status.get("phase"), status.get("best", {}).get("value"))
    return [] if found == ("Succeeded", BEST) else [f"sweep {SWEEP} ended as {found}, and not as ('Succeeded', '{BEST}')"]


def _status(kubectl: Kubectl) -> dict:
    return json.loads(kubectl.run("get", "gsweep", "-n", "default", SWEEP, "-o", "json")).get("status", {})
