"""Looks for anything of gpupool that finished jobs left in the cluster."""

import time

from .errors import DemoError

# Written by people, who say with it which pool a node belongs to.
POOL_LABEL = "gpupool.dev.node-restriction.kubernetes.io/pool"
KINDS = "pods,jobs.batch,statefulsets.apps,services"
PATIENCE = 30


def on_nodes(nodes):
    found = []
    for node in nodes:
        name, metadata = node["metadata"]["name"], node["metadata"]
        marks = [f"taint {taint['key']}" for taint in node["spec"].get("taints", [])]
        marks += [f"label {key}" for key in metadata.get("labels", {}) if key != POOL_LABEL]
        marks += [f"annotation {key}" for key in metadata.get("annotations", {})]
        found += [f"node {name}: {mark}" for mark in marks if "gpupool.dev" in mark]
    return found


def children(kubectl):
    """Worker pods and what runs them, in all namespaces."""
    return [f"{item['kind']} {item['metadata']['namespace']}/{item['metadata']['name']}"
            for item in kubectl.items(KINDS, "--all-namespaces", "-l", "gpupool.dev/job-uid")]


def wait_for_none(kubectl):
    """The names of the nodes that were looked at. Kubernetes deletes children in the background, a moment later."""
    end = time.monotonic() + PATIENCE
    while True:
        nodes = kubectl.items("nodes")
        left = on_nodes(nodes) + children(kubectl)
        if not left:
            return [node["metadata"]["name"] for node in nodes]
        if time.monotonic() > end:
            raise DemoError(f"still there {PATIENCE} s after the last job: " + "; ".join(left))
        time.sleep(0.3)
