# SPDX-License-Identifier: Apache-2.0
"""kubectl on the cluster under test, for what the API client cannot do."""

import json
import os
import subprocess
from typing import Callable

from tests.kit.api import Object
from tests.kit.paths import CRDS, kubectl_program
from tests.kit.waiting import wait_for


def given_kubeconfig() -> str:
    """For tests that start no cluster of their own."""
    path = os.environ.get("TEST_KUBECONFIG")
    if not path:
        raise RuntimeError("TEST_KUBECONFIG must name the kubeconfig of a cluster for tests")
    return path


def kubectl(kubeconfig: str, *arguments: str, text: str | None = None) -> str:
    """What kubectl prints; it must succeed."""
    done = subprocess.run([kubectl_program(), "--kubeconfig", kubeconfig, *arguments], input=text,
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"kubectl {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout


def apply_definitions(kubeconfig: str) -> None:
    kubectl(kubeconfig, "apply", "--validate=false", "-f", CRDS)
    wait_established(lambda *arguments: kubectl(kubeconfig, *arguments))


def wait_established(run: Callable[..., str]) -> None:
    """Until the server serves the kinds of crds/. `run` calls kubectl with its arguments; its error has what kubectl said."""
    wait_for("the definitions to be established", lambda: _established(run))


def _established(run: Callable[..., str]) -> str:
    try:
        return run("wait", "--for=condition=Established", "--timeout=30s", "-f", CRDS)
    except (AssertionError, RuntimeError) as error:
        if "conditions accessor error" in str(error):  # kubectl 1.20 does not wait for the first condition
            return ""
        raise


def apply_objects(kubeconfig: str, objects: list[Object]) -> None:
    kubectl(kubeconfig, "apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
