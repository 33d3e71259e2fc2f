# SPDX-License-Identifier: Apache-2.0
"""What a lease does to nodes, and what becomes of it when nodes and workers are lost."""

import contextlib
import json

from tests.kit.leaks import node_traces
from tests.kit.names import LEASE, LEASE_LABEL
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for

FOREIGN = [{"key": "example.org/a", "effect": "PreferNoSchedule"},
           {"key": "example.org/b", "value": "x", "effect": "PreferNoSchedule"}]


class NodeMarkTest(FakeClusterCase):
    node_count = 1

    def setUp(self):
        super().setUp()
        self.node = self.node_names[0]

    def marks(self):
        node = self.api.get("nodes", self.node)
        taints = [t for t in node["spec"].get("taints", [])]
        annotations = node["metadata"].get("annotations", {})
        annotations.pop("node.alpha.kubernetes.io/ttl", None)  # the controller manager adds it at any time
        return taints, node["metadata"].get("labels", {}), annotations

    def test_foreign_marks_survive(self):
        self.api.patch("nodes", self.node, {"spec": {"taints": FOREIGN}, "metadata": {
            "labels": {"example.org/l": "1"}, "annotations": {"example.org/n": '{"any": "~text/"}'}}})
        before = self.marks()
        job = self.submit("marked")
        job.wait_phase("Running")
        taints, labels, annotations = self.marks()
        value = job.lease()["id"]
        self.assertEqual(before[0] + [{"key": LEASE, "value": value, "effect": "NoSchedule"}], taints)
        self.assertEqual({**before[1], LEASE_LABEL: value}, labels)
        self.assertEqual({**before[2], LEASE: f"{self.namespace}/marked"}, annotations)
        late = {"key": "example.org/late", "effect": "PreferNoSchedule"}
        self.api.patch("nodes", self.node, {"spec": {"taints": [late, *taints]}})
        self.finish(job)
        job.wait_condition("Complete")
        self.assertEqual(([late, *before[0]], *before[1:]), self.marks())

    def test_taint_removed_by_hand_is_put_back(self):
        job = self.submit("kept")
        job.wait_phase("Running")
        traces = sorted(node_traces(self.api.get("nodes", self.node)))
        self.assertEqual(3, len(traces), traces)
        self.api.patch("nodes", self.node, {"spec": {"taints": None}, "metadata": {
            "labels": {LEASE_LABEL: None}, "annotations": {LEASE: None}}})
        wait_for("the marks to be back", lambda: sorted(node_traces(self.api.get("nodes", self.node))) == traces,
                 detail=lambda: str(self.marks()))
        self.assertEqual(1, job.status()["attempts"])

    def test_stale_taint_over_a_live_lease_is_replaced(self):
        """The node controller of Kubernetes before 1.26 may put one back; the lease keeps its label meanwhile."""
        job = self.submit("kept")
        job.wait_phase("Running")
        before = sorted(node_traces(self.api.get("nodes", self.node)))
        stale = {"key": LEASE, "value": "00000000-0000-4000-8000-000000000000.1", "effect": "NoSchedule"}
        written = self.api.patch("nodes", self.node, {"spec": {"taints": [stale]}})
        states = []
        for node in self.node_states(written["metadata"]["resourceVersion"], seconds=15):
            states.append(node)
            if sorted(node_traces(node)) == before:
                break
        self.assertEqual(before, sorted(node_traces(states[-1])))
        self.assertEqual({job.lease()["id"]}, {node["metadata"]["labels"].get(LEASE_LABEL) for node in states})
        self.assertEqual(1, job.status()["attempts"])

    def node_states(self, version, seconds):
        """Each state of the node after this version."""
        query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": str(seconds),
                 "fieldSelector": f"metadata.name={self.node}"}
        connection, stream = self.api.open(self.api.url("nodes", **query))
        with contextlib.closing(connection), contextlib.closing(stream):
            for line in stream:
                yield json.loads(line)["object"]

    def test_stale_taint_of_a_job_that_is_gone_is_swept(self):
        value = "00000000-0000-4000-8000-000000000000.1"
        taint = {"key": LEASE, "value": value, "effect": "NoSchedule"}
        self.api.patch("nodes", self.node, {"spec": {"taints": [*FOREIGN, taint]}, "metadata": {
            "labels": {LEASE_LABEL: value}, "annotations": {LEASE: f"{self.namespace}/gone"}}})
        wait_for("the stale marks to be swept", lambda: not self.nodes.traces(), detail=lambda: str(self.marks()))
        self.assertEqual(FOREIGN, self.marks()[0])

    def test_leftovers_are_swept_by_the_next_operator(self):
        job = self.submit("orphaned")
        job.wait_phase("Running")
        self.operator.kill()
        self.api.delete("gpujobs", "orphaned", self.namespace)
        self.api.patch("gpujobs", "orphaned", {"metadata": {"finalizers": None}}, self.namespace)
        job.wait_gone()
        self.operator.start()
        wait_for("the taint of the job that is gone to be swept", lambda: not self.nodes.traces(),
                 detail=lambda: str(self.marks()) + job_pods(job))


def job_pods(job):
    return " ".join(p["metadata"]["name"] for p in job.pods())


class NodeLossTest(FakeClusterCase):
    def start_gang(self):
        job = self.submit("gang", gpus=2)
        job.wait_phase("Running")
        return job, job.nodes(), job.lease()["id"]

    def test_lost_node_is_replaced_and_keeps_its_taint_until_it_is_back(self):
        job, nodes, old = self.start_gang()
        victim, kept = nodes
        spare = (set(self.node_names) - set(nodes)).pop()
        self.kubelet.dead.add(victim)
        self.nodes.set_ready(victim, "Unknown")
        job.wait("another lease", lambda s: (s.get("lease") or {}).get("id") not in (None, old))
        job.wait_phase("Running")
        self.assertEqual({kept, spare}, set(job.nodes()))
        self.assertEqual([victim], [lost["name"] for lost in job.lease()["lost"]])
        self.assertEqual(0, job.status().get("failures", 0))
        taint = {"key": LEASE, "value": old, "effect": "NoSchedule"}
        self.assertIn(taint, self.api.get("nodes", victim)["spec"]["taints"])
        holds_for("the lost node keeps its taint",
                  lambda: taint in self.api.get("nodes", victim)["spec"].get("taints", []), 3)
        self.kubelet.dead.clear()
        self.nodes.set_ready(victim, "True")
        wait_for("the lost node to be free", lambda: not node_traces(self.api.get("nodes", victim)), detail=job.show)
        self.finish(job, ranks=(0, 1))
        self.assertEqual(2, job.wait_condition("Complete")["attempts"])

    def test_short_absence_is_forgiven(self):
        self.api.patch("gpupools", self.pool, {"spec": {"nodeLossTimeoutSeconds": 30}})
        job, nodes, old = self.start_gang()
        self.nodes.set_ready(nodes[0], "Unknown")
        self.wait_pool(nodes={"unready": 1})
        self.nodes.set_ready(nodes[0], "True")
        self.wait_pool(nodes={"unready": 0})
        self.assertEqual((old, "Running"), (job.lease()["id"], job.phase()))

    def test_node_deleted_and_made_again(self):
        job, nodes, old = self.start_gang()
        victim = nodes[1]
        self.kubelet.dead.add(victim)
        self.nodes.remove(victim)
        job.wait("another lease", lambda s: (s.get("lease") or {}).get("id") not in (None, old))
        self.kubelet.dead.clear()
        self.nodes.add(victim, self.label)
        job.wait_phase("Running")
        self.finish(job, ranks=(0, 1))
        status = job.wait_condition("Complete")
        self.assertEqual((2, 0), (status["attempts"], status.get("failures", 0)))

    def test_without_a_spare_the_job_waits(self):
        other = self.submit("other")
        other.wait_phase("Running")
        job, nodes, _ = self.start_gang()
        self.kubelet.dead.add(nodes[0])
        self.nodes.set_ready(nodes[0], "Unknown")
        job.wait_reason("WaitingForNodes")
        self.kubelet.dead.clear()
        self.nodes.set_ready(nodes[0], "True")
        job.wait_phase("Running")
        self.assertEqual(0, job.status().get("failures", 0))


class WorkerTest(FakeClusterCase):
    def test_deleted_workers_object_is_replaced_uncharged(self):
        for kind, gpus in (("jobs", 1), ("statefulsets", 2)):
            with self.subTest(kind=kind):
                job = self.submit(f"lost-{gpus}", gpus=gpus, backoffLimit=0)
                job.wait_phase("Running")
                old = job.lease()["id"]
                self.api.delete(kind, f"lost-{gpus}-1", self.namespace)
                job.wait("another lease", lambda s, old=old: (s.get("lease") or {}).get("id") not in (None, old))
                job.wait_phase("Running")
                self.finish(job, ranks=range(gpus) if gpus > 1 else (None,))
                status = job.wait_condition("Complete")
                self.assertEqual((2, 0), (status["attempts"], status.get("failures", 0)))

    def test_crash_message_and_charging(self):
        job = self.submit("crashes", gpus=2, backoffLimit=1)
        for attempt in (0, 1):
            job.wait("the attempt", lambda s, a=attempt: s.get("attempts") == a + 1 and s.get("phase") == "Running")
            self.finish(job, 9, "broken pipe", ranks=(1,))
        status = job.wait_condition("Failed")
        self.assertEqual(("BackoffLimitExceeded", 2, 2), (status["reason"], status["attempts"], status["failures"]))
        for text in ("attempt 1", "rank 1 exited with code 9", "broken pipe"):
            self.assertIn(text, status["message"])

    def test_success_seen_before_a_loss_counts(self):
        job = self.submit("half", gpus=2)
        job.wait_phase("Running")
        self.finish(job, ranks=(0,))
        job.wait("one success", lambda s: s.get("workers", {}).get("succeeded") == 1)
        self.restart_operator()
        self.finish(job, ranks=(1,))
        self.assertEqual(1, job.wait_condition("Complete")["attempts"])
