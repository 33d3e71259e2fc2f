# SPDX-License-Identifier: Apache-2.0
"""Looks for anything of gpupool that finished jobs left in the cluster."""

import time

from demo.show.errors import DemoError
from demo.show.kubectl import Kubectl
from tests.kit.api import Object
from tests.kit.leaks import node_traces
from tests.kit.names import JOB_UID

KINDS = "pods,jobs.batch,statefulsets.apps,services"
PATIENCE = 90  # kubelet 1.20 needs 8, 18 and up to 39 s until a running pod that was deleted is gone, anyone's


def _describe(item: Object) -> str:
    metadata = item["metadata"]
    why = [f"{key} {metadata[key]}" for key in ("deletionTimestamp", "deletionGracePeriodSeconds", "finalizers")
           if key in metadata]
    return f"{item['kind']} {metadata['namespace']}/{metadata['name']} ({', '.join(why)})"


def _stays(item: Object) -> bool:
    """A Job that has ended stays for the logs of its pod, which has lost the label."""
    return item["kind"] == "Job" and any(item["status"].get(end) for end in ("succeeded", "failed"))


def children(kubectl: Kubectl) -> list[str]:
    """Worker pods and what runs them, in all namespaces."""
    return [_describe(item) for item in kubectl.items(KINDS, "--all-namespaces", "-l", JOB_UID) if not _stays(item)]


def wait_for_none(kubectl: Kubectl) -> list[str]:
    """The names of the nodes that were looked at. Kubernetes deletes children in the background, a moment later."""
    end = time.monotonic() + PATIENCE
    while True:
        nodes = kubectl.items("nodes")
        left = [trace for node in nodes for trace in node_traces(node)] + children(kubectl)
        if not left:
            return [node["metadata"]["name"] for node in nodes]
        if time.monotonic() > end:
            raise DemoError(f"still there {PATIENCE} s after the last job: " + "; ".join(left))
        time.sleep(0.3)
