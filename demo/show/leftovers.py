"""Looks for anything of gpupool that finished jobs left in the cluster."""

import time

from .errors import DemoError

# What a lease puts on a node; that of pools and GPUs stays.
LEASE = "gpupool.dev/lease"
LEASE_LABEL = "gpupool.dev.node-restriction.kubernetes.io/lease"
# Written by people, who say with it which pool a node belongs to.
POOL_LABEL = "gpupool.dev.node-restriction.kubernetes.io/pool"
KINDS = "pods,jobs.batch,statefulsets.apps,services"
PATIENCE = 90  # kubelet 1.20 needs 8, 18 and up to 39 s until a running pod that was deleted is gone, anyone's


def on_nodes(nodes):
    found = []
    for node in nodes:
        name, metadata = node["metadata"]["name"], node["metadata"]
        found += [f"node {name}: taint {LEASE}" for taint in node["spec"].get("taints", []) if taint["key"] == LEASE]
        found += [f"node {name}: label {LEASE_LABEL}" for _ in [0] if LEASE_LABEL in metadata.get("labels", {})]
        found += [f"node {name}: annotation {LEASE}" for _ in [0] if LEASE in metadata.get("annotations", {})]
    return found


def _describe(item):
    metadata = item["metadata"]
    why = [f"{key} {metadata[key]}" for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "finalizers")
           if key in metadata]
    return f"{item['kind']} {metadata['namespace']}/{metadata['name']} ({', '.join(why)})"


def children(kubectl):
    """Worker pods and what runs them, in all namespaces."""
    return [_describe(item) for item in kubectl.items(KINDS, "--all-namespaces", "-l", "gpupool.dev/job-uid")]


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
