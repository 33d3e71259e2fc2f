# SPDX-License-Identifier: Apache-2.0
"""The cluster and the operator that all tests of one run share."""

from typing import Sequence

from tests.kit.api import Api
from tests.kit.cluster import Cluster
from tests.kit.names import LAUNCHER_IMAGE
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.waiting import wait_for


class Lab:
    def __init__(self, kubeconfig: str, log_path: str, prefix: str, cluster: Cluster | None = None,
                 arguments: Sequence[str] = ("--launcher-image", LAUNCHER_IMAGE)) -> None:
        self.kubeconfig = kubeconfig
        self._cluster = cluster
        self.api = Api(kubeconfig)
        self.prefix = prefix
        self._old = self.api.minor() < 24
        self.operator = OperatorProcess(operator_binary(), kubeconfig, log_path, arguments)

    @property
    def cluster(self) -> Cluster:
        """Of tests that stop servers and nodes."""
        if self._cluster is None:
            raise AssertionError("these tests run on a control plane without nodes")
        return self._cluster

    def new_namespace(self, number: int) -> str:
        return self.make_namespace(f"{self.prefix}-{number}")

    def make_namespace(self, name: str) -> str:
        """Pods can be made in it: its service account is there, and on old servers the account's token."""
        wait_for(f"the namespace {name} of an earlier run to be gone", lambda: not self.api.find("namespaces", name))
        self.api.create("namespaces", {"metadata": {"name": name}})
        wait_for(f"the service account of namespace {name}", lambda: self._account_works(name))
        return name

    def _account_works(self, namespace: str) -> bool:
        account = self.api.find("serviceaccounts", "default", namespace)
        return bool(account and (account.get("secrets") or not self._old))

    def remove_leftovers(self) -> None:
        """Of a run that was killed."""
        for kind in ("gpusweeps", "gpujobs"):
            for one in self.api.list(kind):
                self.api.delete(kind, one["metadata"]["name"], one["metadata"]["namespace"])
        for namespace in self.api.list("namespaces"):
            if namespace["metadata"]["name"].startswith(self.prefix + "-"):
                self.api.delete("namespaces", namespace["metadata"]["name"])
