# SPDX-License-Identifier: Apache-2.0
"""The API server that integration tests talk to: started when first needed, removed at the end."""

import os

from tests.kit.cluster import cluster_environment
from tests.kit.paths import CLUSTER, CRDS
from tests.runner.shell import Shell


class ControlPlane:
    def __init__(self, shell: Shell) -> None:
        self._shell, self._name = shell, f"test{os.getpid()}"
        self._variables: dict[str, str] | None = None
        self._started = False

    def variables(self) -> dict[str, str]:
        """TEST_KUBECONFIG, KUBECTL and the like for a test's environment."""
        if self._variables is None:
            self._started = True
            # The first start on a machine builds Kubernetes, which takes most of an hour on two cores.
            done = self._shell.run("control-plane", CLUSTER, "up", self._name, "--control-plane-only", "--definitions", CRDS,
                                   "--owner-pid", os.getpid(), limit=2 * 3600, show=True)
            if done.code != 0:
                raise RuntimeError("the control plane did not start")
            exports = self._shell.run("control-plane-env", CLUSTER, "env", self._name).output
            found = cluster_environment(exports)
            found["TEST_KUBECONFIG"] = found.pop("KUBECONFIG")
            self._variables = found
        return self._variables

    def stop(self) -> None:
        if self._started:
            self._shell.run("control-plane-down", CLUSTER, "down", self._name)
            self._started = False
