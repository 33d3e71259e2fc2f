"""Who holds a node, and what is on it."""

from checker.records import job_of
from checker.rule import NodeRule

HOLDS = ("Held", "Running")  # the states that say that all nodes are taken; in the others a node may be a plan


class OneLeasePerNode(NodeRule):
    """Neither by what jobs say nor by what the node says has it more than one."""

    name = "a node is in one lease at most"

    def look_at(self, node, state):
        holders = {job.uid for job in state.claimants(node.name)
                   if job.claims(node) and not job.slices and job.state in HOLDS}
        holders |= {job_of(value) for value in node.taints}
        self.checked += bool(holders)
        if len(holders) > 1:
            yield f"node {node.name} is held by {sorted(holders)}"


class HeldNodeCarriesLease(NodeRule):
    name = "a held node carries its lease"

    def look_at(self, node, state):
        for job in state.claimants(node.name):
            if job.claims(node) and not job.slices and job.state in HOLDS:
                self.checked += 1
                if node.taints != [job.lease_id]:
                    yield f"{job.key} is {job.state} with {job.lease_id} on node {node.name}, which has {node.taints}"


class MarksNameHolder(NodeRule):
    """Taint, label and annotation come and go together, and belong to a job that lives and has the node."""

    name = "a mark on a node names a living job that has it"

    def look_at(self, node, state):
        for value in {*node.taints, *([node.label] if node.label else [])}:
            self.checked += 1
            job = state.jobs.get(job_of(value))
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


class PodOnHeldNode(NodeRule):
    """As long as it has not ended. A machine that is new under its old name knows nothing of what it ran before."""

    name = "a worker is on a node that its job holds"

    def look_at(self, node, state):
        for pod in state.pods_on(node.name):
            if pod.ended:
                continue
            self.checked += 1
            if pod.slices:
                job = state.jobs.get(pod.job)
                if not job or not (job.claims(node) or job.has_lost(node) or node.born > pod.born):
                    yield f"{pod.key} is on node {node.name}, of which {job and job.key} has no slices"
                continue
            holders = {job_of(value) for value in node.taints}
            if holders - {pod.job}:
                yield f"{pod.key} is on node {node.name}, which carries {node.taints}"
            elif not holders and node.born < pod.born:
                yield f"{pod.key} is on node {node.name}, which nobody holds"
