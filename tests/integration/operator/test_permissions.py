# SPDX-License-Identifier: Apache-2.0
"""The operator as an account that may only do what a role says; rules that are missing, taken away and given back."""

import json
import os
import tempfile

from tests.kit import deploy
from tests.kit.manifests import sweep_manifest
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.played.case import FakeClusterCase
from tests.kit.sweeps import SweepHandle
from tests.kit.waiting import holds_for, wait_for

ACCOUNT = "system:serviceaccount:gpupool-system:gpupool-operator"
ROLE = "gpupool-integration"
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


class PermissionCase(FakeClusterCase):
    """Instead of the administrator that runs the operator in other tests."""

    def setUp(self):
        super().setUp()
        self.operator.stop()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.limited = None

    def clean(self):
        if self.limited and self.limited.running():
            self.limited.stop()
        self.api.delete("clusterrolebindings", ROLE)
        self.api.delete("clusterroles", ROLE)
        super().clean()

    def start_limited(self, drop=None):
        """drop: (resource, verb) that is taken out of the role in deploy/manifests/install.yaml."""
        manifests = deploy.objects("operator")
        rules = next(m["rules"] for m in manifests if m["kind"] == "ClusterRole")
        self.rules = json.loads(json.dumps(rules))
        if drop:
            for rule in rules:
                if drop[0] in rule["resources"] and drop[1] in rule["verbs"]:
                    rule["verbs"].remove(drop[1])
        name = {"metadata": {"name": ROLE}}
        self.api.create("clusterroles", {**name, "rules": rules})
        rbac = "rbac.authorization.k8s.io"
        self.api.create("clusterrolebindings", {
            **name, "subjects": [{"kind": "User", "name": ACCOUNT, "apiGroup": rbac}],
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": ROLE}})
        config = json.loads(json.dumps(self.api.config))
        config["users"][0]["user"]["as"] = ACCOUNT
        path = os.path.join(self.folder.name, "kubeconfig")
        with open(path, "w", encoding="utf-8") as target:
            json.dump(config, target)
        self.limited = OperatorProcess(operator_binary(), path, self.operator.log_path + ".limited")
        self.limited.start()

    def may(self, resource, verb):
        plural, _, sub = resource.partition("/")
        group = next(rule["apiGroups"][0] for rule in self.rules if resource in rule["resources"])
        wanted = {"resource": plural, "subresource": sub, "verb": verb, "group": group}
        answer = self.api.call("POST", REVIEWS, {"spec": {"user": ACCOUNT, "resourceAttributes": wanted}})
        return answer["status"]["allowed"]

    def take(self, resource, verb):
        rules = json.loads(json.dumps(self.rules))
        for rule in rules:
            if resource in rule["resources"] and verb in rule["verbs"]:
                rule["verbs"] = [other for other in rule["verbs"] if other != verb] or ["get"]
        self.api.patch("clusterroles", ROLE, {"rules": rules})
        wait_for("the rule to be gone", lambda: not self.may(resource, verb))

    def give_back(self):
        self.api.patch("clusterroles", ROLE, {"rules": self.rules})


class PermissionTest(PermissionCase):
    def test_role_in_deploy_is_enough(self):
        self.start_limited()
        one, gang = self.submit("one"), self.submit("gang", gpus=2)
        one.wait_phase("Running")
        gang.wait_phase("Running")
        self.finish(one)
        self.finish(gang, ranks=(0, 1))
        one.wait_condition("Complete")
        gang.wait_condition("Complete")
        wait_for("events", lambda: gang.events())
        quick = self.submit("quick", ttlSecondsAfterFinished=0)
        quick.wait_phase("Running")
        self.finish(quick)
        quick.wait_gone()
        sweep = self.sweep("sweep", keepJobs="None")
        self.worker(sweep.trial(0))
        sweep.patch(suspend=True)
        sweep.trial(0).wait_phase("Suspended")
        sweep.patch(suspend=False)
        self.finish(sweep.trial(0))
        sweep.wait_phase("Succeeded")
        sweep.wait_jobs()
        self.assertNotIn("forbidden", self.limited.log())

    def sweep(self, name, **spec):
        """Of one trial."""
        parameters = [{"name": "lr", "values": ["0.1"]}]
        self.api.create("gpusweeps", sweep_manifest(name, self.namespace, self.pool, parameters, **spec))
        return SweepHandle(self.api, name, self.namespace)

    def test_jobs_run_where_sweeps_cannot_be_seen(self):
        """As where the kind is not installed."""
        self.start_limited(drop=("gpusweeps", "list"))
        job = self.submit("one")
        self.worker(job)
        self.finish(job)
        job.wait_condition("Complete")
        sweep = self.sweep("late")
        self.give_back()
        self.worker(sweep.trial(0))

    def test_a_sweep_that_may_begin_no_trial_says_so(self):
        self.start_limited(drop=("gpujobs", "create"))
        sweep = self.sweep("stuck")
        status = sweep.wait_reason("Forbidden")
        self.assertIn("create", status["message"])
        self.assertEqual("True", sweep.condition("Stalled"))
        self.give_back()
        self.worker(sweep.trial(0))
        sweep.wait_reason("TrialsRunning")

    def test_missing_rule_is_named_and_stops_nobody_else(self):
        self.start_limited(drop=("jobs", "create"))
        job, gang = self.submit("one"), self.submit("gang", gpus=2)
        status = job.wait_condition("Stalled")
        self.assertEqual("Forbidden", status["reason"])
        for text in ("create", "jobs", "batch"):
            self.assertIn(text, status["message"])
        gang.wait_phase("Running")
        job.wait("no lease", lambda s: not s.get("lease"))
        role = self.api.get("clusterroles", ROLE)
        role["rules"].append({"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]})
        self.api.patch("clusterroles", ROLE, {"rules": role["rules"]})
        job.wait_phase("Running")
        self.assertEqual("False", job.condition("Stalled"))

    def test_pool_that_cannot_be_guarded_against_deletion_gives_no_nodes(self):
        self.api.patch("gpupools", self.pool, {"metadata": {"finalizers": None}})
        self.start_limited(drop=("gpupools", "patch"))
        job = self.submit("one")
        job.wait("the reason", lambda s: "is being set up" in s.get("message", ""))
        holds_for("the job holds nothing", lambda: not job.lease() and not self.nodes.traces(), 2)
        self.api.patch("clusterroles", ROLE, {"rules": self.rules})
        job.wait_phase("Running")
        self.api.delete("gpupools", self.pool)
        self.assertTrue(self.api.find("gpupools", self.pool), "the pool did not wait for its job")


class TakenRuleTest(PermissionCase):
    """A rule goes while jobs run; it is named, runs on, and comes back."""

    # What becomes impossible, and the job that needs it at its end.
    RULES = [("nodes", "patch", 1), ("pods", "patch", 2), ("statefulsets", "delete", 2), ("services", "delete", 2)]

    def finish_all(self, job, gpus):
        if gpus == 1:
            self.finish(job)
        else:
            self.finish(job, ranks=(0, 1))

    def test_rules_that_the_end_of_a_job_needs(self):
        self.start_limited()
        for number, (resource, verb, gpus) in enumerate(self.RULES):
            with self.subTest(resource=resource, verb=verb):
                job = self.submit(f"job-{number}", gpus=gpus)
                job.wait_phase("Running")
                self.take(resource, verb)
                self.finish_all(job, gpus)
                job.wait_condition("Stalled")
                stalled = job.conditions()["Stalled"]
                self.assertEqual("Forbidden", stalled["reason"])
                self.assertIn("missing RBAC rule", stalled["message"])
                self.assertIn(verb, stalled["message"])
                self.assertIn(resource, stalled["message"])
                self.assertEqual("Completed", job.reason(), "the outcome was lost")
                wait_for("an event", lambda job=job: any(e["reason"] == "Forbidden" for e in job.events()))
                self.give_back()
                self.assertEqual(1, job.wait_condition("Complete")["attempts"])
                self.assertEqual("False", job.condition("Stalled"))
                job.delete()
                job.wait_gone()

    def test_rule_that_a_suspension_needs(self):
        self.start_limited()
        job = self.submit("job")
        job.wait_phase("Running")
        self.take("jobs", "delete")
        job.patch(suspend=True)
        job.wait_condition("Stalled")
        self.assertIn("jobs", job.conditions()["Stalled"]["message"])
        self.give_back()
        job.wait_phase("Suspended")
        self.assertEqual("False", job.condition("Stalled"))

    def test_rule_to_release_a_worker_that_stays(self):
        """The job has ended by then and says so; the worker holds nothing but its name."""
        self.start_limited()
        job = self.submit("job")
        job.wait_phase("Running")
        self.take("pods", "patch")
        self.finish(job)
        job.wait_condition("Complete")
        wait_for("the missing rule in the log", lambda: "missing RBAC rule" in self.limited.log(), detail=self.limited.tail)
        self.assertEqual(("False", "Completed"), (job.condition("Stalled"), job.reason()))
        self.give_back()
        wait_for("its pod to be released", lambda: not any(p["metadata"].get("finalizers") for p in job.pods()),
                 detail=job.show)

    def test_pods_that_only_the_garbage_collector_may_delete(self):
        """It follows the workload; how soon, decides whether the operator complains meanwhile."""
        self.start_limited()
        job = self.submit("job", gpus=2)
        job.wait_phase("Running")
        self.take("pods", "delete")
        self.finish_all(job, 2)
        self.assertEqual(1, job.wait_condition("Complete")["attempts"])
        self.assertEqual("False", job.condition("Stalled"))

    def test_rule_to_write_the_status(self):
        """Nothing can be written on the job then: the event and the log have to do."""
        self.start_limited()
        job = self.submit("job")
        job.wait_phase("Running")
        before = [p["metadata"]["uid"] for p in job.pods()]
        self.take("gpujobs/status", "update")
        self.finish(job)
        wait_for("an event", lambda: any(e["reason"] == "Forbidden" for e in job.events()), detail=self.limited.tail)
        # The event is sent before the status is tried once more; only then the error is logged.
        wait_for("the missing rule in the log", lambda: "missing RBAC rule" in self.limited.log(), detail=self.limited.tail)
        self.assertEqual(before, [p["metadata"]["uid"] for p in job.pods()], "ended before its outcome was written")
        self.give_back()
        self.assertEqual(1, job.wait_condition("Complete")["attempts"])
