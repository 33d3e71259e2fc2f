# SPDX-License-Identifier: Apache-2.0
"""Jobs whose workers the API server refuses: told in its words, without nodes, and in nobody's way."""

import time

from tests.kit.leaks import node_traces
from tests.kit.manifests import job_manifest
from tests.kit.names import LEASE
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for

WORKER = {"name": "w", "image": "i:1", "command": ["true"]}


def template(metadata=None, **pod):
    return {"metadata": metadata or {}, "spec": {"containers": [WORKER], **pod}}


class RefusedJobTest(FakeClusterCase):
    def wait_out_of_line(self, job, reason, text):
        """Until it holds nothing, says why, and no node carries anything."""
        status = job.wait(f"stall {reason} without a lease",
                          lambda s: s.get("reason") == reason and not s.get("lease") and s)
        self.assertEqual("True", job.condition("Stalled"), job.show())
        self.assertIn(text, status["message"])
        wait_for("the nodes to be free", lambda: not self.nodes.traces(), detail=lambda: str(self.nodes.traces()))
        return status

    def check_in_nobodys_way(self, bad, seconds=20):
        """A good job gets all nodes although the bad ones are older."""
        good = self.submit(f"good-{bad.name}", gpus=self.node_count)
        began = time.monotonic()
        good.wait_phase("Running")
        self.assertLess(time.monotonic() - began, seconds, "it waited for the refused one")
        good.delete()
        good.wait_gone()

    def test_template_that_the_server_refuses(self):
        bad = {"metadata": {"labels": {"a b": "x"}}, "spec": {"containers": [WORKER]}}
        jobs = [self.submit("wide", gpus=self.node_count, template=bad)]
        jobs += [self.submit(f"narrow-{i}", template=bad) for i in range(self.node_count)]
        for job in jobs:
            self.wait_out_of_line(job, "TemplateRefused", "a b")
        self.check_in_nobodys_way(jobs[0])
        jobs[0].patch(template={"metadata": {"labels": {"a b": None}}})
        jobs[0].wait_phase("Running")

    def test_names_that_somebody_else_has(self):
        self.api.create("jobs", {"metadata": {"name": "taken-1", "namespace": self.namespace}, "spec": {
            "suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [WORKER]}}}})
        job = self.submit("taken")
        self.wait_out_of_line(job, "NameConflict", "taken-1")
        self.check_in_nobodys_way(job)

    def test_quota_of_jobs(self):
        """Whether it is still full is found out without nodes."""
        self.quota("jobs", **{"count/jobs.batch": "0"})
        job = self.submit("counted")
        self.wait_out_of_line(job, "QuotaExceeded", "exceeded quota")
        sequence = job.status()["leaseSequence"]
        holds_for("no node is taken", lambda: not self.nodes.traces(), 12)
        self.assertEqual(sequence, job.status()["leaseSequence"])
        self.api.delete("resourcequotas", "jobs", self.namespace)
        job.wait_phase("Running")

    def test_pods_that_the_server_refuses(self):
        """It tells only the workload's controller why."""
        for gpus in (1, 2):
            with self.subTest(gpus=gpus):
                job = self.submit(f"account-{gpus}", gpus=gpus, template=template(serviceAccountName="missing"))
                began = time.monotonic()
                status = self.wait_out_of_line(job, "Forbidden", "missing")
                self.assertLess(time.monotonic() - began, 30)
                self.assertEqual(0, status.get("failures", 0))
                self.check_in_nobodys_way(job)
                sequence = job.status()["leaseSequence"]
                self.assertEqual(0, sequence, "the server is asked before a node is taken")
                self.api.create("serviceaccounts", {"metadata": {"name": "missing", "namespace": self.namespace}})
                job.wait_phase("Running")
                self.assertGreater(job.status()["leaseSequence"], sequence)
                self.api.delete("serviceaccounts", "missing", self.namespace)
                job.delete()
                job.wait_gone()

    def test_quota_that_wants_limits(self):
        """What admits the worker admits the launcher's container."""
        self.quota("limits", **{"limits.cpu": "8", "limits.memory": "8Gi"})
        job = self.submit("unlimited")
        self.wait_out_of_line(job, "Forbidden", "limits.cpu")
        limited = {**WORKER, "resources": {"limits": {"cpu": "1", "memory": "64Mi"}}}
        job.patch(template={"spec": {"containers": [limited]}})
        job.wait_phase("Running")

    def test_quota_that_is_full_costs_no_lease(self):
        self.quota("full", pods="0")
        jobs = [self.submit(f"full-{i}", gpus=gpus) for i, gpus in enumerate((1, 2))]
        for job in jobs:
            self.wait_out_of_line(job, "QuotaExceeded", "exceeded quota")
            self.assertEqual(0, job.status()["leaseSequence"])
        self.api.delete("resourcequotas", "full", self.namespace)
        for job in jobs:
            job.wait("its first lease", lambda s: s.get("leaseSequence"))
            job.delete()
            job.wait_gone()

    def test_quota_that_admits_one_worker_of_a_gang_costs_no_lease(self):
        self.quota("narrow", pods="1")
        gang = self.submit("gang", gpus=2)
        status = self.wait_out_of_line(gang, "QuotaExceeded", "requested by all 2 workers: pods=2")
        self.assertEqual(0, status["leaseSequence"])
        single = self.submit("single")  # the quota admits it, and the gang is in nobody's way
        single.wait_phase("Running")
        self.api.patch("resourcequotas", "narrow", {"spec": {"hard": {"pods": "3"}}}, self.namespace)
        gang.wait_phase("Running")

    def test_limit_range_with_least_amounts(self):
        self.api.create("limitranges", {"metadata": {"name": "least", "namespace": self.namespace}, "spec": {
            "limits": [{"type": "Container", "min": {"cpu": "100m", "memory": "64Mi"}}]}})
        enough = {**WORKER, "resources": {"requests": {"cpu": "100m", "memory": "64Mi"},
                                          "limits": {"cpu": "1", "memory": "64Mi"}}}
        self.submit("enough", template={"spec": {"containers": [enough]}}).wait_phase("Running")

    def test_template_nested_too_deep(self):
        deep = {}
        for _ in range(250):
            deep = {"a": deep}
        job = self.submit("deep", template={"spec": {"containers": [{**WORKER, "x": deep}]}})
        self.wait_out_of_line(job, "InvalidTemplate", "nested deeper than 200")
        self.check_in_nobodys_way(job)

    def test_kubelet_that_refuses_every_time(self):
        """It is charged, or the job would repeat it for ever."""
        job = self.submit("windows", backoffLimit=1)
        for _ in range(2):
            self.kubelet.reject(self.worker(job), "PodOSNotSupported", "this is a Linux node")
        status = job.wait_phase("Failed")
        self.assertEqual(("BackoffLimitExceeded", 2), (status["reason"], status["failures"]))
        self.assertIn("refused by the kubelet: PodOSNotSupported", status["message"])


class GuardTest(FakeClusterCase):
    node_count = 1

    def test_finalizer_that_a_replace_takes_off_is_put_back(self):
        job = self.submit("replaced")
        job.wait_phase("Running")
        whole = job_manifest("replaced", self.namespace, self.pool)
        whole["metadata"]["resourceVersion"] = job.read()["metadata"]["resourceVersion"]
        whole["spec"] = job.read()["spec"]
        self.api.replace("gpujobs", "replaced", whole, self.namespace)
        wait_for("the finalizer to be back", lambda: LEASE in job.read()["metadata"].get("finalizers", []),
                 detail=job.show)

    def test_taints_of_other_effects_under_our_key_go(self):
        node = self.node_names[0]
        stray = {"key": LEASE, "value": "by-hand", "effect": "NoExecute"}
        self.api.patch("nodes", node, {"spec": {"taints": [stray]}})
        wait_for("the free node to be clean", lambda: not node_traces(self.api.get("nodes", node)))
        job = self.submit("held")
        job.wait_phase("Running")
        ours = self.api.get("nodes", node)["spec"]["taints"]
        stray["effect"] = "PreferNoSchedule"  # NoExecute would evict the worker at once
        self.api.patch("nodes", node, {"spec": {"taints": [*ours, stray]}})
        wait_for("the stray taint to go", lambda: self.api.get("nodes", node)["spec"]["taints"] == ours)
        self.assertEqual(1, job.status()["attempts"])
