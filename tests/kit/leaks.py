# SPDX-License-Identifier: Apache-2.0
"""Finds what gpupool has left in a cluster after its jobs."""

from tests.kit.api import Api, Object
from tests.kit.names import LEASE, LEASE_LABEL
from tests.kit.waiting import wait_for


def node_traces(node: Object) -> list[str]:
    """Marks of a lease on a node."""
    metadata = node["metadata"]
    name = metadata["name"]
    found = [f"taint {t['key']}={t.get('value')} on node {name}" for t in node["spec"].get("taints", [])
             if t["key"] == LEASE]
    found += [f"label {LEASE_LABEL} on node {name}" for _ in [0] if LEASE_LABEL in metadata.get("labels", {})]
    found += [f"annotation {LEASE} on node {name}" for _ in [0] if LEASE in metadata.get("annotations", {})]
    return found


def is_ours(objekt: Object) -> bool:
    metadata = objekt["metadata"]
    keys = [*metadata.get("labels", {}), *metadata.get("finalizers", [])]
    return any(key.startswith("gpupool.dev") for key in keys)


def find_leaks(api: Api) -> list[str]:
    """Everything of gpupool's in the cluster but jobs that are finished or hold nothing, and pools."""
    leaks = [trace for node in api.list("nodes") for trace in node_traces(node)]
    for kind in ("pods", "jobs", "statefulsets", "services"):
        leaks += [f"{kind} {o['metadata']['namespace']}/{o['metadata']['name']}" for o in api.list(kind) if is_ours(o)]
    leaks += [f"finalizer {finalizer} of namespace {ns['metadata']['name']}" for ns in api.list("namespaces")
              for finalizer in ns["metadata"].get("finalizers", []) if "gpupool" in finalizer]
    return leaks


def wait_no_leaks(api: Api) -> None:
    """For after the last job is gone: what remains is a leak."""
    wait_for("nodes and namespaces to be clean of gpupool", lambda: not find_leaks(api),
             detail=lambda: "left: " + "; ".join(find_leaks(api)))
