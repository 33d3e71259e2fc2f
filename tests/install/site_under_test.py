# SPDX-License-Identifier: Apache-2.0
"""The cluster with its release, and how one asks about it."""

from typing import Any


from tests.deploy.chart import CHART, helm
from tests.kit.api import Api
from tests.kit.checks import Checks
from tests.kit.cluster import Cluster
from tests.kit.commands import output_of
from tests.kit.kubectl import kubectl
from tests.kit.names import SYSTEM_NAMESPACE
from tests.kit.paths import BUILD_IMAGE

RELEASE = "gpupool"
# A cluster whose driver is a fake; and people in a hurry. How GPUs are cut is left to the chart.
VALUES = """
operator:
  image: {tag: dev}
devicePlugin:
  image: {tag: dev}
  updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}
  env:
    - {name: GPUPOOL_FAKE_NVML, value: /driver/nvml.json}
"""
# What docs/install.md sets to cut the GPUs of one node, for upgrades that come after it.
SLICES = """
  config:
    overrides:
      - match: {node: nd}
        deviceSplitCount: 10
"""


class Site:
    def __init__(self, cluster: Cluster, report: Checks) -> None:
        self.cluster, self.report, self.api = cluster, report, Api(cluster.kubeconfig)
        self.values = VALUES
        self.allowed_once: set[tuple[Any, Any]] = set()  # rights.remember()

    def load_images(self) -> None:
        for archive in output_of(BUILD_IMAGE, "operator", "device-plugin", "web", "keeper", "ledger").split():
            self.cluster.load(archive)

    def helm(self, verb: str, *arguments: str, chart: str = CHART) -> Any:
        if verb in ("install", "upgrade"):
            arguments = (RELEASE, chart, "--create-namespace", "--values", "-", *arguments)
        else:
            arguments = (RELEASE, *arguments)
        return helm(verb, *arguments, "--namespace", SYSTEM_NAMESPACE, "--kubeconfig", self.cluster.kubeconfig,
                    text=self.values if verb in ("install", "upgrade") else None)

    def kubectl(self, *arguments: str, text: str | None = None) -> Any:
        return kubectl(self.cluster.kubeconfig, *arguments, text=text)

    def pods(self, component: str) -> list[Any]:
        """Without those on their way out, for which a kubelet of Kubernetes 1.20 takes up to a minute."""
        label = f"app.kubernetes.io/component={component}"
        return [pod for pod in self.api.list("pods", SYSTEM_NAMESPACE, labelSelector=label)
                if "deletionTimestamp" not in pod["metadata"]]

    def ready(self, component: str, count: int) -> tuple[bool, str]:
        """(ok, detail): so many pods of this component, all Ready."""
        pods = self.pods(component)
        states = {pod["metadata"]["name"]: next((c["status"] for c in pod["status"].get("conditions", [])
                                                 if c["type"] == "Ready"), "Unknown") for pod in pods}
        return (len(pods) == count and list(states.values()) == ["True"] * count,
                f"{states}\n{self.kubectl('-n', SYSTEM_NAMESPACE, 'describe', 'pods')[-3000:] if not states else ''}")

    def leader(self) -> Any:
        lease = self.api.find("leases", "gpupool-operator", SYSTEM_NAMESPACE)
        return (lease or {}).get("spec", {}).get("holderIdentity", "")
