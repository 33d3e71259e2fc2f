# SPDX-License-Identifier: Apache-2.0
"""One running cluster as a test sees it."""

import json
import os
import sys
from typing import Any

from tests.kit.api import Object
from tests.kit.cluster import cluster_environment
from tests.kit.commands import run
from tests.kit.paths import CLUSTER


class RunningCluster:
    def __init__(self, name: str) -> None:
        self.name = name
        code, text = run(CLUSTER, "env", name)
        if code:
            sys.exit(text)
        self.variables = cluster_environment(text)
        self.folder = self.variables["GPUPOOL_CLUSTER_DIR"]

    def kubectl(self, *arguments: str, stdin: str | None = None, user: str = "kubeconfig") -> tuple[int, str]:
        return run(self.variables["KUBECTL"], "--kubeconfig", os.path.join(self.folder, user), *arguments, stdin=stdin)

    def apply(self, *objects: Object) -> tuple[int, str]:
        return self.kubectl("apply", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def get(self, *arguments: str) -> Any:
        code, text = self.kubectl("get", "-o", "json", *arguments)
        return json.loads(text) if code == 0 else {}

    def execute(self, pod: str, *command: str) -> tuple[int, str]:
        return self.kubectl("exec", pod, "--", *command)

    def cluster(self, verb: str, *arguments: str) -> tuple[int, str]:
        return run(CLUSTER, verb, self.name, *arguments)

    def node_ready(self, node: str) -> str:
        for condition in self.get("node", node).get("status", {}).get("conditions", []):
            if condition["type"] == "Ready":
                return condition["status"]
        return "absent"

    def allocatable(self, node: str) -> str | None:
        return self.get("node", node).get("status", {}).get("allocatable", {}).get("nvidia.com/gpu")


def headless_service(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"app": name},
                     "ports": [{"port": 80, "protocol": "TCP"}]}}


def pods_on_each_node(name: str, replicas: int) -> Object:
    """A StatefulSet whose pods are never ready and never on the same node."""
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
            "spec": {"serviceName": name, "replicas": replicas, "podManagementPolicy": "Parallel",
                     "selector": {"matchLabels": {"app": name}},
                     "template": {"metadata": {"labels": {"app": name}}, "spec": {
                         "terminationGracePeriodSeconds": 1,
                         "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                             {"labelSelector": {"matchLabels": {"app": name}},
                              "topologyKey": "kubernetes.io/hostname"}]}},
                         "containers": [{
                             "name": "web", "image": "gpupool.dev/busybox:1",
                             "command": ["sh", "-c", "echo started; hostname > /tmp/index.html; exec httpd -f -p 80 -h /tmp"],
                             "readinessProbe": {"exec": {"command": ["false"]}}}]}}}}


def python_pod(name: str, script: str) -> Object:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "python", "image": "gpupool.dev/pytorch:1", "command": ["python3", "-c", script]}]}}
