# SPDX-License-Identifier: Apache-2.0
"""Rules for slices of GPUs, and for GPUs that are rented one by one."""

from typing import Any, Iterator

from tests.faults.checker.records import Node
from tests.faults.checker.rule import NodeRule
from tests.faults.checker.state import State

RESERVES = ("Held", "Running", "Restarting")


def fits(workers: list[int], gpus: list[int]) -> bool:
    """Whether workers with so many slices each can be on GPUs with so many free ones."""
    workers, tried = sorted(workers, reverse=True), set()

    def place(index: int, free: Any) -> bool:
        if index == len(workers):
            return True
        if (index, free) in tried:
            return False
        tried.add((index, free))
        return any(place(index + 1, tuple(sorted((*free[:i], free[i] - workers[index], *free[i + 1:]))))
                   for i in range(len(free)) if free[i] >= workers[index] and free[i] not in free[:i])

    return place(0, tuple(sorted(gpus)))


def slices_of_gpus(node: Node, state: State) -> list[int]:
    """By the report of the node's device plugin. Of a node without one whole GPUs are rented, of which workers take any."""
    return [there for there, _ in state.gpus.get(node.name, [])] or [node.gpus]


class GpuNotOversubscribed(NodeRule):
    """By what leases reserve, by what runs, and by what the device plugin reports of each GPU."""

    name = "no GPU has more slices given away than it has"

    def look_at(self, node: Node, state: State) -> Iterator[str]:
        gpus = state.gpus.get(node.name, [])
        jobs = [job for job in state.claimants(node.name) if job.slices and job.claims(node) and job.state in RESERVES]
        if not gpus and not (jobs and node.gpus):  # nothing is known of the GPUs of a node whose report is gone
            return
        self.checked += 1
        total = slices_of_gpus(node, state)
        reserved = [job.slices for job in jobs for _ in range(job.nodes[node.name][1])]
        if not fits(reserved, total):
            shown = [f"{j.key}: {j.nodes[node.name][1]} with {j.slices}" for j in jobs]
            yield f"leases reserve {sum(reserved)} slices on node {node.name}, whose GPUs have {total}: {shown}"
        # The scheduler knows only how many slices a node has in all. Whom it binds in place of a worker that a lost node had,
        # the kubelet refuses.
        running = [pod.slices for pod in state.pods_on(node.name) if pod.slices and pod.began and not pod.ended]
        if not fits(running, total):
            yield f"workers with {running} slices are on node {node.name}, whose GPUs have {total}"
        for index, (there, used) in enumerate(gpus):
            if used > there:
                yield f"GPU {index} of node {node.name} has {used} slices in use and {there} in all"
