# SPDX-License-Identifier: Apache-2.0
"""What Argo CD says about an object: its health script, run by a real Lua interpreter."""

import json
import os
import subprocess
from typing import Any

from tests.kit.api import Object
from tests.kit.paths import ROOT

STATUSES = ("Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown")


def script_of(kind: str) -> str:
    return os.path.join(ROOT, "deploy", "argocd", kind.lower() + ".lua")


def health(objekt: Object, script: str | None = None) -> tuple[Any, Any]:
    """(status, message); raises what Argo CD would log instead of a health."""
    done = subprocess.run(["lua5.1", os.path.join(ROOT, "tests", "health", "argo.lua"), script or script_of(objekt["kind"])],
                          input=json.dumps(objekt), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    result = json.loads(done.stdout)
    assert result["status"] in STATUSES, result
    return result["status"], result.get("message", "")
