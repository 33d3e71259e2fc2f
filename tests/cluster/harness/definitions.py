# SPDX-License-Identifier: Apache-2.0
"""Resource definitions that a cluster has from its start."""

import subprocess

from tests.cluster.harness import processes
from tests.cluster.harness.errors import ClusterError

LIMIT = 60


def create(kubectl: str, kubeconfig: str, folder: str) -> None:
    """Returns when the server serves their kinds. At a cluster's start before the controller manager starts: its garbage
    collector looks for new kinds only every 30 s."""
    common = [kubectl, "--kubeconfig", kubeconfig]
    done = _run(*common, "apply", "--validate=false", "-f", folder)
    if done.returncode != 0:
        raise ClusterError(f"the definitions in {folder} were not taken:\n{done.stdout}")
    # kubectl 1.20 does not wait for the first condition.
    processes.wait_for(f"the definitions in {folder}", lambda: _run(
        *common, "wait", "--for=condition=Established", "--timeout=30s", "-f", folder).returncode == 0, LIMIT, 0.2)


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
