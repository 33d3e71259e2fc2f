# SPDX-License-Identifier: Apache-2.0
"""What real kubelets make of lost nodes, reboots, drains and hands in the workers' objects."""

import time

from tests.e2e.node_case import FIRST_FOR_EVER, NodeCase
from tests.kit.kubectl import kubectl
from tests.kit.leaks import node_traces
from tests.kit.manifests import LISTEN, shell
from tests.kit.waiting import holds_for, wait_for


class LossTest(NodeCase):
    def test_power_cut_and_replacement(self):
        self.api.patch("gpupools", self.pool, {"spec": {"nodeLossTimeoutSeconds": 5}})
        self.addCleanup(self.api.patch, "gpupools", self.pool, {"spec": {"nodeLossTimeoutSeconds": 30}})
        job = self.gang("cut")
        victim, kept = job.nodes()
        self.lab.cluster.verb("stop-node", victim, "--hard")
        wait_for("the node to be not ready", lambda: self.ready(victim) != "True")
        begin = time.monotonic()
        job.wait("the next attempt's workers", lambda s: s.get("attempts") == 2)
        print(f"\n    from NotReady to new workers: {time.monotonic() - begin:.1f} s, 5 of them patience", flush=True)
        self.assertNotIn(victim, job.nodes())
        self.assertIn(kept, job.nodes())
        self.complete(job, 2)
        self.assertTrue(node_traces(self.api.get("nodes", victim)), "taken until it is heard from")
        self.lab.cluster.verb("start-node", victim)
        self.wait_free(victim)

    def ready(self, name):
        return next(c["status"] for c in self.api.get("nodes", name)["status"]["conditions"] if c["type"] == "Ready")

    def test_reboot(self):
        """Shorter than the pool's patience: containers and kubelet are gone, and back."""
        alone = self.submit("alone", FIRST_FOR_EVER, backoffLimit=0)
        alone.wait_phase("Running")
        gang = self.gang("gang")
        victim, (other,) = gang.nodes()[0], alone.nodes()
        for node in (victim, other):
            self.lab.cluster.verb("stop-node", node, "--hard")
            self.lab.cluster.verb("start-node", node)
        self.complete(gang, 2)
        self.complete(alone, 2)

    def test_kubelet_restarts(self):
        job = self.gang("quiet", LISTEN + "sleep 12")
        for node in job.nodes():
            self.lab.cluster.verb("stop-node", node)
            self.lab.cluster.verb("start-node", node)
        self.complete(job, 1)


class ForcedDeletionTest(NodeCase):
    """A machine is cut off, and an administrator deletes its pod by force: that ends no process."""

    def force(self, pod):
        name = pod["metadata"]["name"]
        kubectl(self.lab.kubeconfig, "-n", self.namespace, "delete", "pod", name, "--force", "--grace-period=0",
                "--wait=false")

    def carries(self, node):
        return bool(node_traces(self.api.get("nodes", node)))

    def check(self, job, node, pod):
        job.delete()
        self.force(pod)
        holds_for("the node is taken", lambda: self.carries(node), 8)
        wait_for("people to be told", lambda: "DeletedByForce" in self.events(job) or "NodeLost" in self.events(job),
                 detail=lambda: str(self.events(job)))
        self.assertTrue(self.carries(node))
        self.lab.cluster.verb("join-node", node)
        wait_for("the node to be free once its kubelet has spoken", lambda: not self.carries(node),
                 detail=lambda: str(self.api.list("pods", self.namespace)))
        job.wait_gone()
        # Its kubelet may hear of a lease's label after the pod and refuse the pod, until it has caught up with the server.
        self.submit("next", "true", nodes=[node]).wait_condition("Complete")

    def test_of_a_worker_that_runs(self):
        job = self.submit("runs", nodes=["na"])
        job.wait_phase("Running")
        self.lab.cluster.verb("cut-node", "na")
        self.addCleanup(self.lab.cluster.verb, "join-node", "na")
        self.check(job, "na", job.pods()[0])

    def test_of_a_worker_that_its_kubelet_has_yet_to_report(self):
        self.lab.cluster.verb("cut-node", "nb")
        self.addCleanup(self.lab.cluster.verb, "join-node", "nb")
        job = self.submit("unseen", nodes=["nb"])
        pod = wait_for("its pod to be bound", lambda: next((p for p in job.pods() if p["spec"].get("nodeName")), None),
                       detail=job.show)
        self.check(job, "nb", pod)


class DrainTest(NodeCase):
    def test_drained_node_is_left(self):
        job = self.gang("drained")
        left = job.nodes()[0]
        self.kubectl_drain(left, job)
        self.complete(job, 2)
        self.assertNotIn(left, job.status()["nodeNames"].split(","))
        self.wait_free(left)


class WorkerTest(NodeCase):
    def test_out_of_memory_is_charged(self):
        """tail keeps what has no line break."""
        limits = {"limits": {"memory": "40Mi"}, "requests": {"memory": "40Mi"}}
        jobs = []
        for name, gpus in (("alone", 1), ("gang", 2)):
            script = LISTEN + "[ $RANK = 0 ] || sleep 3600; sleep 2; exec tail /dev/zero"
            jobs.append(self.submit(name, container=shell(script, resources=limits), gpus=gpus, backoffLimit=0))
        for job in jobs:
            status = job.wait_condition("Failed")
            self.assertEqual(("BackoffLimitExceeded", 1), (status["reason"], status["failures"]), job.show())

    def test_hands_in_the_workers_objects(self):
        script = LISTEN + "[ $GPUPOOL_ATTEMPT -gt 1 ] || sleep 3600"
        job = self.gang("handled", script)
        (old,) = self.api.list("services", self.namespace)
        self.api.patch("statefulsets", "handled-1",
                       {"spec": {"template": {"metadata": {"annotations": {"example.org/edited": "x"}}}}}, self.namespace)
        self.api.delete("services", "handled-1", self.namespace)
        wait_for("the Service to be made again", lambda: [
            s for s in self.api.list("services", self.namespace) if s["metadata"]["uid"] != old["metadata"]["uid"]])
        holds_for("the attempt goes on", lambda: job.status()["attempts"] == 1, 2)
        self.api.patch("statefulsets", "handled-1", {"spec": {"replicas": 1}}, self.namespace)
        job.wait("attempt 1", lambda s: s.get("attempts") == 2 and s["phase"] == "Running")
        self.api.delete("statefulsets", "handled-2", self.namespace)
        self.complete(job, 3)
        wait_for("the event ServiceRestored", lambda: "ServiceRestored" in self.events(job),
                 detail=lambda: str(self.events(job)))

    def test_ranks_of_a_program_without_a_rendezvous(self):
        """Rank 0 never listens, and ends."""
        self.submit("shards", container=shell('[ $RANK != 0 ] || exit 0; echo shard $RANK'), gpus=3,
                    backoffLimit=0).wait_condition("Complete")
