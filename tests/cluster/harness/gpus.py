"""Simulated GPUs: an extended resource in a node's status, without any plugin."""

from . import processes

RESOURCE = "nvidia.com/gpu"


def set_count(api, node, count):
    """Writes the capacity and waits until the kubelet repeats it as allocatable, which is what schedulers read."""
    path = f"/api/v1/nodes/{node}"
    patch = {"status": {"capacity": {RESOURCE: str(count)}}}

    def shown():
        status = api.get(path)["status"]
        if status["capacity"].get(RESOURCE) != str(count):
            # The first report of a kubelet that just started sets an unknown resource to zero.
            api.call("PATCH", f"{path}/status", patch, "application/merge-patch+json")
            return False
        return status["allocatable"].get(RESOURCE) == str(count)

    processes.wait_for(f"{count} {RESOURCE} to be allocatable on node {node}", shown, 30, 0.2)


def remember(state, node, count):
    """Keeps the count for when the kubelet is started again."""
    counts = state.facts().get("gpus", {})
    counts[node] = count
    state.remember(gpus=counts)


def restore(state, api, node):
    count = state.facts().get("gpus", {}).get(node)
    if count is not None:
        set_count(api, node, count)
