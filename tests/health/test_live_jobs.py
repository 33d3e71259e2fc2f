# SPDX-License-Identifier: Apache-2.0
"""Jobs in a cluster look as the fixtures show."""

from tests.health.live_case import LiveCase
from tests.integration.operator.test_permissions import PermissionCase
from tests.kit.api import ApiError
from tests.kit.manifests import SOURCE, job_manifest, shell
from tests.kit.played import transfers
from tests.kit.waiting import wait_for


class WaitingTest(LiveCase):
    def test_in_the_queue(self):
        runs = self.submit("runs")
        runs.wait_phase("Running")
        self.keep_job("gpujob-running", runs, "WorkersRunning")
        self.keep_job("gpujob-queued-waiting-for-nodes", self.submit("large", gpus=3), "WaitingForNodes")
        behind = self.submit("small")
        behind.wait_behind_others()
        self.keep("gpujob-queued-behind-others", behind.read())
        self.keep_job("gpujob-queued-too-large", self.submit("huge", gpus=4), "TooLarge")
        self.keep_job("gpujob-queued-no-such-node", self.submit("picky", nodes=["elsewhere"]), "NoSuchNode")
        self.keep_job("gpujob-suspended", self.submit("asleep", suspend=True), "Suspended")
        self.api.patch("gpupools", self.pool, {"spec": {"gpus": {"models": ["H100"]}}})
        self.keep_job("gpujob-queued-no-matching-model", self.submit("fine"), "NoMatchingModel")


class StalledTest(LiveCase):
    def test_until_a_person_acts(self):
        bad = self.submit("bad", template={"spec": {"containers": [{"name": "w", "image": "i:1"}]}})
        self.keep_job("gpujob-stalled-invalid-template", bad, "InvalidTemplate")
        refused = self.submit("refused", template={"spec": {"containers": [shell("true", imagePullPolicy="Sometimes")]}})
        refused.wait_condition("Stalled")
        refused.wait("no lease", lambda s: not s.get("lease"))
        self.keep("gpujob-stalled-refused-template", refused.read())
        slices = self.submit("slices", slice={"count": 1})
        self.keep_job("gpujob-stalled-slice-in-exclusive-pool", slices, "SliceInExclusivePool")
        self.api.create("services", {"metadata": {"name": "taken-1", "namespace": self.namespace},
                                     "spec": {"ports": [{"port": 80, "protocol": "TCP"}], "clusterIP": "None"}})
        taken = self.submit("taken", gpus=2)
        taken.wait_phase("Invalid")
        taken.wait("no lease", lambda s: not s.get("lease"))
        self.keep_job("gpujob-stalled-name-conflict", taken, "NameConflict")

    def test_unknown_pool(self):
        self.keep_job("gpujob-stalled-pool-not-found", self.submit("astray", pool="nowhere"), "PoolNotFound")

    def test_forbidden(self):
        job = self.submit("nobody", template={"spec": {"serviceAccountName": "nobody", "containers": [shell("true")]}})
        job.wait("no lease", lambda s: s.get("reason") == "Forbidden" and not s.get("lease"))
        self.keep_job("gpujob-stalled-forbidden", job, "Forbidden")

    def test_quota(self):
        quota = {"metadata": {"name": "none", "namespace": self.namespace}, "spec": {"hard": {"count/jobs.batch": "0"}}}
        path = f"/api/v1/namespaces/{self.namespace}/resourcequotas"
        self.api.call("POST", path, quota)
        wait_for("the quota to count", lambda: self.api.call("GET", path + "/none").get("status", {}).get("used"), 30)
        job = self.submit("quota")
        job.wait("no lease", lambda s: s.get("reason") == "QuotaExceeded" and not s.get("lease"))
        self.keep_job("gpujob-stalled-quota-exceeded", job, "QuotaExceeded")

    def test_rules_of_older_servers(self):
        """Newer API servers refuse both at once, by the definitions' CEL rules."""
        job = self.submit("edited")
        job.wait_phase("Running")
        try:
            job.patch(template={"spec": {"containers": [shell("echo other")]}})
        except ApiError as error:
            self.assertEqual(422, error.code)
        else:
            self.keep_job("gpujob-running-spec-changed", job, "SpecChanged")
        try:
            job = self.submit_manifest(job_manifest("uneven", self.namespace, self.pool, gpus=3, gpusPerWorker=2))
        except ApiError as error:
            self.assertEqual(422, error.code)
        else:
            self.keep_job("gpujob-stalled-invalid-spec", job, "InvalidSpec")


class LifeTest(LiveCase):
    def test_from_nodes_to_success(self):
        job = self.submit("life", gpus=2)
        job.wait_phase("Running")
        self.finish(job, 1, "boom", ranks=(0,))
        job.wait("attempt 1", lambda s: s.get("attempts") == 2 and s["phase"] == "Running")
        self.finish(job, ranks=(0, 1))
        job.wait_condition("Complete")
        self.keep_moment("gpujob-taking", job, "Starting", "TakingNodes")
        self.keep_moment("gpujob-starting", job, "Starting", "StartingWorkers")
        self.keep_moment("gpujob-restarting", job, "Restarting", "WorkerFailed")
        self.keep_moment("gpujob-releasing", job, "Releasing", "Completed")
        self.keep_job("gpujob-succeeded", job, "Completed")

    def test_failures(self):
        crash = self.submit("crash", backoffLimit=0)
        self.finish(crash, 3, "boom")
        late = self.submit("late", activeDeadlineSeconds=1)
        crash.wait_condition("Failed")
        self.keep_job("gpujob-failed-backoff-limit", crash, "BackoffLimitExceeded")
        late.wait_condition("Failed")
        self.keep_job("gpujob-failed-deadline", late, "DeadlineExceeded")
        self.kubelet.dead.update(self.node_names)  # no worker starts
        never = self.submit("never", startTimeoutSeconds=1)
        self.recorder.first("never", "its end", lambda s: s.get("reason") == "StartTimeout")
        self.kubelet.dead.clear()
        never.wait_condition("Failed")
        self.keep_job("gpujob-failed-start-timeout", never, "StartTimeout")

    def test_source_that_cannot_be_fetched(self):
        sources = self.kubelet.transfers.sources
        sources[self.namespace, "denied"] = transfers.fails("SourceDenied", "data: s3://lab/set: 403 Forbidden")
        sources[self.namespace, "away"] = transfers.in_turn(
            transfers.fails("SourceUnavailable", "data: s3://lab/set: 503 Service Unavailable"), transfers.fetched)
        denied, away = (self.submit(name, source=SOURCE) for name in ("denied", "away"))
        denied.wait_condition("Failed")
        self.keep_job("gpujob-failed-source-denied", denied, "SourceDenied")
        away.wait_phase("Running")
        self.keep_moment("gpujob-restarting-source-unavailable", away, "Restarting", "SourceUnavailable")

    def test_suspended_while_it_runs(self):
        job = self.submit("paused")
        job.wait_phase("Running")
        job.patch(suspend=True)
        job.wait_phase("Suspended")
        self.keep_moment("gpujob-releasing-suspended", job, "Releasing", "Suspended")
        self.keep_job("gpujob-suspended", job, "Suspended")


class LossTest(LiveCase):
    def lose(self, name):
        self.kubelet.dead.add(name)
        self.nodes.set_ready(name, "Unknown")

    def clean(self):
        for name in self.nodes.names():
            self.nodes.set_ready(name, "True")
        super().clean()

    def test_lost_worker_and_lost_node(self):
        job = self.submit("loser", gpus=2)
        job.wait_phase("Running")
        self.api.delete("pods", self.worker(job, 1)["metadata"]["name"], self.namespace)
        job.wait("attempt 1", lambda s: s.get("attempts") == 2 and s["phase"] == "Running")
        self.keep_moment("gpujob-restarting-worker-lost", job, "Restarting", "WorkerLost")
        self.lose(job.nodes()[1])
        job.wait("attempt 2", lambda s: s.get("attempts") == 3 and s["phase"] == "Running")
        self.keep_moment("gpujob-restarting-node-lost", job, "Restarting", "NodeLost")

    def test_waits_for_its_lost_node(self):
        job = self.submit("faithful", gpus=2, nodeReplacement="Never")
        job.wait_phase("Running")
        self.lose(job.nodes()[1])
        self.keep_job("gpujob-running-waiting-for-lost-node", job, "WaitingForLostNode")

    def test_waits_for_another_node(self):
        job = self.submit("leaver", gpus=3)
        job.wait_phase("Running")
        self.nodes.drain(job.nodes()[1])
        self.keep_job("gpujob-running-draining", job, "Draining")


class UnseenTest(LiveCase):
    def test_deleted_and_its_worker_still_ends(self):
        job = self.submit("going")
        job.wait_phase("Running")
        self.kubelet.dead.update(job.nodes())
        job.delete()
        self.keep_job("gpujob-deleting", job, "Deleted")
        self.kubelet.dead.clear()
        job.wait_gone()

    def test_while_no_operator_runs(self):
        runs, waits = self.submit("runs"), self.submit("waits", gpus=4)
        runs.wait_phase("Running")
        waits.wait_reason("TooLarge")
        self.operator.kill()
        self.keep("gpujob-new", self.submit("new").read())
        waits.patch(gpus=3)
        self.keep("gpujob-edited-unseen", waits.read())
        runs.delete()
        self.keep("gpujob-deleting-unseen", runs.read())


class ForbiddenEndTest(LiveCase, PermissionCase):
    def test_a_rule_that_the_end_needs_is_missing(self):
        self.start_limited()
        job = self.submit("stuck")
        job.wait_phase("Running")
        self.take("nodes", "patch")
        self.finish(job)
        job.wait_condition("Stalled")
        self.keep("gpujob-releasing-forbidden", job.read())
        self.give_back()
        job.wait_condition("Complete")
