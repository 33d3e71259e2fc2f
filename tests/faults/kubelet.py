"""The kubelets that the tests play, which also keep the books: what ran where, and never twice."""

import fake_kubelet
from checker.records import node_controller_wrote_taints
from fake_kubelet import FakeKubelet
from fake_plugins import FakePlugins
from support.api import ApiError
from support.jobs import JOB_UID, LEASE, LEASE_LABEL

fake_kubelet.POLL = 0.03  # thousands of runs


def attempt_of(pod):
    env = {e["name"]: e.get("value") for e in pod["spec"]["containers"][0]["env"]}
    return int(env["GPUPOOL_ATTEMPT"])


def rank_of(pod):
    gang = pod["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet"
    return int(pod["metadata"]["name"].rsplit("-", 1)[1]) if gang else 0


def carries(node, lease):
    """The label, which binds the workers, and the taint, which keeps others away, are written together. The node controller
    of Kubernetes before 1.26 may undo the taint at any time (kubernetes/kubernetes#113136), also before the workers begin.
    They begin regardless: it is gpupool that puts the taint back, and a rule of the checker how soon."""
    if node["metadata"].get("labels", {}).get(LEASE_LABEL) != lease:
        return False
    taints = [t.get("value") for t in node["spec"].get("taints", []) if t["key"] == LEASE]
    return taints == [lease] or node_controller_wrote_taints(node)


class BookkeepingKubelet(FakeKubelet):
    """violations: of promise 1 (a node belongs to one lease) and promise 3 (a command runs once per attempt)."""

    def __init__(self, api):
        self.violations = []
        self.runs = {}  # (job UID, attempt, rank): UID of the pod that ran the command
        self._occupied = {}  # node: {pod UID: lease}
        self.plugins = FakePlugins(api)
        super().__init__(api, self.plugins)

    def _start(self, pod):
        meta, node = pod["metadata"], pod["spec"]["nodeName"]
        shared = "gpupool.dev/slices" in meta["labels"]
        problems = [] if shared else self._enter(pod, node)
        try:
            if not super()._start(pod):
                return False
        except (ApiError, OSError):
            self._free(pod)  # the pod has changed; nothing has begun
            raise
        self.violations += problems
        key = (meta["labels"][JOB_UID], attempt_of(pod), rank_of(pod))
        if self.runs.setdefault(key, meta["uid"]) != meta["uid"]:
            self.violations.append(f"rank {key[2]} of attempt {key[1]} ran twice, at last as pod {meta['name']}")
        return True

    def _enter(self, pod, node):
        """What is wrong with a worker on this node, which it has for itself."""
        meta, lease = pod["metadata"], pod["metadata"]["labels"][LEASE]
        there = self._api.get("nodes", node)
        others = self._occupied.setdefault(node, {})
        strangers = [other for other in others.values() if other != lease]
        others[meta["uid"]] = lease  # from here on a test may end it
        found = [f"{meta['name']} of lease {lease} began on node {node} beside lease {other}" for other in strangers]
        if not carries(there, lease):
            found.append(f"{meta['name']} of lease {lease} began on node {node}, which does not carry it")
        return found

    def _free(self, pod):
        node = pod["spec"].get("nodeName")
        self._occupied.get(node, {}).pop(pod["metadata"]["uid"], None)

    def _end(self, pod):
        self._free(pod)  # before it is written: nothing runs any more when others can know
        super()._end(pod)

    def finish(self, pod, code=0, tail=""):
        if pod["metadata"]["ownerReferences"][0]["kind"] == "Job":  # in a gang the launcher stays and holds the node
            self._free(pod)
        super().finish(pod, code, tail)
