# SPDX-License-Identifier: Apache-2.0
"""Rules for nodes: which lease holds them and which pods run there."""

from typing import Iterator

from tests.faults.checker.records import Node, job_of
from tests.faults.checker.rule import Change, NodeRule, Rule
from tests.faults.checker.state import State

HOLDS = ("Held", "Running")  # the states that say that all nodes are taken; in the others a node may be a plan


class OneLeasePerNode(NodeRule):
    """Neither the jobs' statuses nor the node's marks name more than one lease."""

    name = "a node is in one lease at most"

    def look_at(self, node: Node, state: State) -> Iterator[str]:
        holders = {job.uid for job in state.claimants(node.name)
                   if job.claims(node) and not job.slices and job.state in HOLDS}
        holders |= {job_of(value) for value in node.taints}
        self.checked += bool(holders)
        if len(holders) > 1:
            yield f"node {node.name} is held by {sorted(holders)}"


class HeldNodeCarriesLease(NodeRule):
    name = "a held node carries its lease"

    def look_at(self, node: Node, state: State) -> Iterator[str]:
        for job in state.claimants(node.name):
            if job.claims(node) and not job.slices and job.state in HOLDS:
                self.checked += 1
                if node.taints != [job.lease_id]:
                    yield f"{job.key} is {job.state} with {job.lease_id} on node {node.name}, which has {node.taints}"


class MarksNameHolder(NodeRule):
    """Taint, label and annotation come and go together, and belong to a job that lives and has the node.

    An API server that is asked to delete a job while it gets its finalizer may remove it regardless: it looks for
    finalizers first and then deletes whatever is there. Nobody can take nodes so that this never shows, so the marks of
    a job that was gone without having been marked for deletion have 5 s in which somebody leads.
    """

    name = "a mark on a node names a living job that has it"
    LIMIT = 5.0

    def __init__(self) -> None:
        super().__init__()
        self._orphaned = {}  # (node, value): since when

    def look(self, change: Change, state: State) -> Iterator[str]:
        yield from super().look(change, state)
        present = {(node, value) for node, value in self._orphaned if node in state.nodes and
                   value in (*state.nodes[node].taints, state.nodes[node].label)}
        for name in change.places():
            values = {*state.nodes[name].taints, state.nodes[name].label} if name in state.nodes else ()
            present |= {(name, value) for value in values if value and job_of(value) in state.vanished}
        self._orphaned = {key: self._orphaned.get(key, change.when) for key in present}
        for (node, value), since in self._orphaned.items():
            if change.led_since(since) > self.LIMIT:
                yield f"node {node} carries {value} of a job that is gone for more than {self.LIMIT:.0f} s"

    def look_at(self, node: Node, state: State) -> Iterator[str]:
        for value in {*node.taints, *([node.label] if node.label else [])}:
            self.checked += 1
            job = state.jobs.get(job_of(value))
            if job is None and job_of(value) in state.vanished:
                continue
            if job is None:
                yield f"node {node.name} carries {value}, and there is no such job"
            elif not job.claims(node) and not job.has_lost(node):
                yield f"node {node.name} carries {value}; the lease of {job.key} does not name it: {job.lease_id}"
            elif node.annotation != job.key:
                yield f"node {node.name} carries {value} of {job.key} and the annotation {node.annotation}"
        if node.taints != ([node.label] if node.label else []):
            yield f"node {node.name} has the taint {node.taints} and the label {node.label}"
        if node.annotation and not node.taints:
            yield f"node {node.name} has the annotation {node.annotation} and no taint"
        for pool in node.pools:
            self.checked += 1
            if pool not in state.pools:
                yield f"node {node.name} has the taint of pool {pool}, which does not exist"


class NodeControllerUndone(Rule):
    """What the node controller has undone is put right within 5 s in which somebody leads. The other rules go by what was
    there before."""

    name = "a lease taint that the node controller undid is put right"
    LIMIT = 5.0

    def __init__(self) -> None:
        super().__init__()
        self._undone = {}  # node: (what it has now, since when)
        self._said = set()  # nodes

    def look(self, change: Change, state: State) -> Iterator[str]:
        for name in change.places():
            node = state.nodes.get(name)
            if not node or node.undone is None:
                self._undone.pop(name, None)
                self._said.discard(name)
            elif self._undone.get(name, (None,))[0] != node.undone:
                self.checked += 1
                self._undone[name] = (node.undone, change.when)
        for name, (now, since) in self._undone.items():
            if change.led_since(since) > self.LIMIT and name not in self._said:
                self._said.add(name)
                yield f"the node controller made the lease taints of node {name} {now}, {change.when - since:.1f} s ago"


class PodOnHeldNode(NodeRule):
    """As long as it has not ended. A machine that is new under its old name knows nothing of what it ran before."""

    name = "a worker is on a node that its job holds"

    def look_at(self, node: Node, state: State) -> Iterator[str]:
        for pod in state.pods_on(node.name):
            if pod.ended or node.born > pod.born:
                continue
            self.checked += 1
            job = state.jobs.get(pod.job)
            if pod.slices and pod.job in state.vanished:  # see MarksNameHolder
                continue
            if pod.slices:
                if not (job and (job.claims(node) or job.has_lost(node))):
                    yield f"{pod.key} is on node {node.name}, of which {job and job.key} has no slices"
            elif {job_of(value) for value in node.taints} != {pod.job}:
                yield f"{pod.key} is on node {node.name}, which carries {node.taints}"
