# SPDX-License-Identifier: Apache-2.0
"""Others are away: the operator for hours, a namespace for good, somebody's webhook."""

import time

from tests.kit.api import ApiError
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for

WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


class OperatorAwayTest(FakeClusterCase):
    node_count = 6

    def test_everything_happens_while_the_operator_is_down(self):
        """What is due is done when it is back, by stamps in the objects: how long it was away does not matter."""
        names = ("finishes", "is-deleted", "is-late", "runs-on", "had-ended", "crashes")
        jobs = {name: self.submit(name) for name in names}
        for job in jobs.values():
            job.wait_phase("Running")
        self.finish(jobs["had-ended"])
        jobs["had-ended"].wait_condition("Complete")
        kept = [p["metadata"]["uid"] for p in jobs["runs-on"].pods()]
        self.operator.kill()
        jobs["is-late"].patch(activeDeadlineSeconds=5)
        jobs["had-ended"].patch(ttlSecondsAfterFinished=5)
        self.finish(jobs["finishes"])
        self.finish(jobs["crashes"], code=3)
        jobs["is-deleted"].delete()
        queued = self.submit("submitted", gpus=2)
        time.sleep(6)
        self.operator.start()
        self.assertEqual(1, jobs["finishes"].wait_condition("Complete")["attempts"])
        self.assertEqual("DeadlineExceeded", jobs["is-late"].wait_condition("Failed")["reason"])
        jobs["is-deleted"].wait_gone()
        jobs["had-ended"].wait_gone()
        jobs["crashes"].wait("its second attempt", lambda s: s["attempts"] == 2 and s["failures"] == 1)
        queued.wait_phase("Running")
        self.assertEqual(kept, [p["metadata"]["uid"] for p in jobs["runs-on"].pods()])
        self.assertEqual(("Running", 1), (jobs["runs-on"].phase(), jobs["runs-on"].status()["attempts"]))


class NamespaceTest(FakeClusterCase):
    node_count = 4

    def test_namespace_goes_with_jobs_in_every_phase(self):
        bystander = self.submit("bystander", namespace="default")
        self.addCleanup(bystander.delete)
        bystander.wait_phase("Running")
        one, gang, done = self.submit("one"), self.submit("gang", gpus=2), self.submit("done", suspend=True)
        one.wait_phase("Running")
        gang.wait_phase("Running")
        done.wait_phase("Suspended")
        self.submit("queued", gpus=2).wait_reason("WaitingForNodes")
        self.submit("bad", template={"spec": {"containers": []}}).wait_reason("InvalidTemplate")
        self.api.delete("namespaces", self.namespace)
        wait_for("the namespace to be gone", lambda: self.api.find("namespaces", self.namespace) is None,
                 detail=self.leftovers)
        wait_for("its nodes to be free", lambda: len(self.nodes.traces()) == 3, detail=lambda: str(self.nodes.traces()))
        self.assertEqual(("Running", 1), (bystander.phase(), bystander.status()["attempts"]))
        self.assertNotIn("panic", self.operator.tail())

    def test_job_that_is_about_to_start_when_its_namespace_goes(self):
        self.kubelet.dead.update(self.node_names)  # the namespace stays in termination
        running = self.submit("running")
        wait_for("its worker to be bound", lambda: any(p["spec"].get("nodeName") for p in running.pods()))
        late = self.submit("late", suspend=True)
        late.wait_phase("Suspended")
        self.api.patch("gpujobs", "late", {"metadata": {"finalizers": ["test/stay"]}}, self.namespace)
        self.addCleanup(lambda: late.exists() and self.remove_finalizers(late))
        self.api.delete("namespaces", self.namespace)
        wait_for("the namespace to end", lambda: self.api.get("namespaces", self.namespace)["status"]["phase"] ==
                 "Terminating")
        late.patch(suspend=False)  # from Kubernetes 1.33 jobs are deleted only when all pods are gone
        holds_for("nothing can be made here any more", lambda: not late.pods(), 3)
        self.remove_finalizers(late)
        self.kubelet.dead.clear()
        wait_for("the namespace to be gone", lambda: self.api.find("namespaces", self.namespace) is None,
                 detail=self.leftovers)

    def remove_finalizers(self, job):
        self.api.patch("gpujobs", job.name, {"metadata": {"finalizers": None}}, self.namespace)


class WebhookTest(FakeClusterCase):
    """gpupool has none; somebody else's is down and refuses all Jobs of the namespace."""

    def is_refused(self):
        """Whether a Job would be: a new configuration takes a moment."""
        body = {"metadata": {"name": "probe", "namespace": self.namespace},
                "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}}}}
        try:
            self.api.create("jobs", body, dryRun="All")
        except ApiError as error:
            return "down.test.dev" in error.message
        return False

    def test_webhook_is_down_for_a_while(self):
        self.api.patch("namespaces", self.namespace, {"metadata": {"labels": {"test/webhook": self.namespace}}})
        name = f"gpupool-integration-{self.namespace}"
        self.api.call("POST", WEBHOOKS, {"metadata": {"name": name}, "webhooks": [{
            "name": "down.test.dev", "failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": 1,
            "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/"},
            "namespaceSelector": {"matchLabels": {"test/webhook": self.namespace}},
            "rules": [{"apiGroups": ["batch"], "apiVersions": ["*"], "operations": ["CREATE"],
                       "resources": ["jobs"]}]}]})
        removed = []

        def remove():
            if not removed:
                removed.append(self.api.call("DELETE", f"{WEBHOOKS}/{name}"))
        self.addCleanup(remove)
        wait_for("the webhook to be asked", self.is_refused)
        job = self.submit("one")
        job.wait("the cause in its status", lambda s: "down.test.dev" in s.get("message", ""))
        lines = len(self.operator.log().splitlines())
        holds_for("it has no pods", lambda: not job.pods(), 4)
        self.assertLess(len(self.operator.log().splitlines()) - lines, 30)
        status = job.wait_reason("CreateFailed")
        self.assertIn("down.test.dev", status["message"])
        job.wait("no lease", lambda s: not s.get("lease"))
        other = self.submit("other", gpus=1, namespace="default")
        self.addCleanup(other.delete)
        other.wait_phase("Running")
        remove()
        job.wait_phase("Running")
        self.assertEqual(0, job.status().get("failures", 0))
