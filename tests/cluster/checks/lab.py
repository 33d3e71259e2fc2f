"""One running cluster as a test sees it."""

import json
import os
import sys

from .report import run

CLUSTER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cluster")


class Lab:
    def __init__(self, name):
        self.name = name
        code, text = run(CLUSTER, "env", name)
        if code:
            sys.exit(text)
        self.facts = dict(line[len("export "):].split("=", 1) for line in text.splitlines())
        self.folder = self.facts["GPUPOOL_CLUSTER_DIR"]

    def kubectl(self, *arguments, stdin=None, user="kubeconfig"):
        return run(self.facts["KUBECTL"], "--kubeconfig", os.path.join(self.folder, user), *arguments, stdin=stdin)

    def apply(self, *objects):
        return self.kubectl("apply", "-f", "-", stdin=json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": list(objects)}))

    def get(self, *arguments):
        code, text = self.kubectl("get", "-o", "json", *arguments)
        return json.loads(text) if code == 0 else {}

    def execute(self, pod, *command):
        return self.kubectl("exec", pod, "--", *command)

    def cluster(self, verb, *arguments):
        return run(CLUSTER, verb, self.name, *arguments)

    def node_ready(self, node):
        for condition in self.get("node", node).get("status", {}).get("conditions", []):
            if condition["type"] == "Ready":
                return condition["status"]
        return "absent"

    def allocatable(self, node):
        return self.get("node", node).get("status", {}).get("allocatable", {}).get("nvidia.com/gpu")


def headless_service(name):
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": name},
            "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": {"app": name},
                     "ports": [{"port": 80, "protocol": "TCP"}]}}


def pods_on_each_node(name, replicas):
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


def python_pod(name, script):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
        "restartPolicy": "Never",
        "containers": [{"name": "python", "image": "gpupool.dev/pytorch:1", "command": ["python3", "-c", script]}]}}
