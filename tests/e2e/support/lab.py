"""The cluster and the operator that all tests of one run share."""

from .api import Api
from .operator_process import OperatorProcess, operator_binary
from .waiting import wait_for


class Lab:
    def __init__(self, kubeconfig, log_path, prefix, cluster=None, arguments=()):
        self.kubeconfig = kubeconfig
        self.cluster = cluster
        self.api = Api(kubeconfig)
        self.prefix = prefix
        self._old = self.api.minor() < 24
        self.operator = OperatorProcess(operator_binary(), kubeconfig, log_path, arguments)

    def new_namespace(self, number):
        return self.make_namespace(f"{self.prefix}-{number}")

    def make_namespace(self, name):
        """Pods can be made in it: its service account is there, and on old servers the account's token."""
        wait_for(f"the namespace {name} of an earlier run to be gone", lambda: not self.api.find("namespaces", name))
        self.api.create("namespaces", {"metadata": {"name": name}})
        wait_for(f"the service account of namespace {name}", lambda: self._account_works(name))
        return name

    def _account_works(self, namespace):
        account = self.api.find("serviceaccounts", "default", namespace)
        return account and (account.get("secrets") or not self._old)

    def remove_leftovers(self):
        """Of a run that was killed."""
        for job in self.api.list("gpujobs"):
            self.api.delete("gpujobs", job["metadata"]["name"], job["metadata"]["namespace"])
        for namespace in self.api.list("namespaces"):
            if namespace["metadata"]["name"].startswith(self.prefix + "-"):
                self.api.delete("namespaces", namespace["metadata"]["name"])
