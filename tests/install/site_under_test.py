"""The cluster with its release, and how one asks about it."""

import os
import subprocess

from chart import CHART, ROOT, helm
from support.api import Api
from support.cluster import kubectl

NAMESPACE, RELEASE = "gpupool-system", "gpupool"
POOL_LABEL = "gpupool.dev.node-restriction.kubernetes.io/pool"
# A cluster whose driver is a fake, and whose GPUs are whole on all nodes but one; and people in a hurry.
VALUES = """
operator:
  image: {tag: dev}
devicePlugin:
  image: {tag: dev}
  updateStrategy: {rollingUpdate: {maxUnavailable: 100%}}
  env:
    - {name: GPUPOOL_FAKE_NVML, value: /driver/nvml.json}
  config:
    version: v1
    deviceSplitCount: 1
    overrides:
      - match: {node: nd}
        deviceSplitCount: 10
"""


class Site:
    def __init__(self, cluster, report):
        self.cluster, self.report, self.api = cluster, report, Api(cluster.kubeconfig)
        self.values = VALUES

    def load_images(self):
        built = subprocess.run([os.path.join(ROOT, "tests", "images", "build"), "operator", "device-plugin"], check=True,
                               stdout=subprocess.PIPE, text=True)
        for archive in built.stdout.split():
            self.cluster.load(archive)

    def helm(self, verb, *arguments, chart=CHART):
        if verb in ("install", "upgrade"):
            arguments = (RELEASE, chart, "--create-namespace", "--values", "-", *arguments)
        else:
            arguments = (RELEASE, *arguments)
        return helm(verb, *arguments, "--namespace", NAMESPACE, "--kubeconfig", self.cluster.kubeconfig,
                    text=self.values if verb in ("install", "upgrade") else None)

    def kubectl(self, *arguments, text=None):
        return kubectl(self.cluster.kubeconfig, *arguments, text=text)

    def pods(self, component):
        """Without those on their way out, for which a kubelet of Kubernetes 1.20 takes up to a minute."""
        label = f"app.kubernetes.io/component={component}"
        return [pod for pod in self.api.list("pods", NAMESPACE, labelSelector=label)
                if "deletionTimestamp" not in pod["metadata"]]

    def ready(self, component, count):
        """(ok, detail): so many pods of this component, all Ready."""
        pods = self.pods(component)
        states = {pod["metadata"]["name"]: next((c["status"] for c in pod["status"].get("conditions", [])
                                                 if c["type"] == "Ready"), "Unknown") for pod in pods}
        return (len(pods) == count and list(states.values()) == ["True"] * count,
                f"{states}\n{self.kubectl('-n', NAMESPACE, 'describe', 'pods')[-3000:] if not states else ''}")

    def leader(self):
        lease = self.api.find("leases", "gpupool-operator", NAMESPACE)
        return (lease or {}).get("spec", {}).get("holderIdentity", "")
