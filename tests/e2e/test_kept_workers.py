# SPDX-License-Identifier: Apache-2.0
"""A worker that has ended stays for its logs, and holds nothing."""

from tests.kit.kubectl import kubectl
from tests.kit.names import JOB_UID, WORKER_FINALIZER
from tests.kit.operator_case import OperatorCase
from tests.kit.waiting import wait_for


class KeptWorkersTest(OperatorCase):
    def jobs(self):
        """Names of the Jobs in the namespace."""
        return sorted(job["metadata"]["name"] for job in self.api.list("jobs", self.namespace))

    def released(self, job):
        """Pods of the job that gpupool neither holds nor watches any more."""
        return [pod for pod in job.pods() if WORKER_FINALIZER not in pod["metadata"].get("finalizers", [])
                and JOB_UID not in pod["metadata"]["labels"] and "deletionTimestamp" not in pod["metadata"]]

    def logs(self, name):
        return kubectl(self.lab.kubeconfig, "-n", self.namespace, "logs", "job/" + name)

    def test_logs_of_a_job_that_has_succeeded(self):
        job = self.submit("kept", "echo the accuracy is 0.93; echo accuracy=0.93 step=7", metrics={"names": ["accuracy"]})
        job.wait_condition("Complete")
        self.assertEqual([{"name": "accuracy", "last": "0.93", "step": 7, "min": "0.93", "minStep": 7, "max": "0.93",
                           "maxStep": 7, "count": 1}], job.status()["metrics"]["values"])
        self.assert_free("na", "nb", "nc")
        wait_for("its pod to be released", lambda: len(self.released(job)) == 1, detail=job.show)
        self.assertIn("the accuracy is 0.93", self.logs("kept-1"))
        job.delete()
        job.wait_gone()
        wait_for("its worker to go with it", lambda: not job.pods() and not self.jobs(), detail=job.show)

    def test_logs_of_the_last_failed_attempts(self):
        job = self.submit("failing", "echo this is attempt $GPUPOOL_ATTEMPT; exit 3", backoffLimit=4)
        job.wait_condition("Failed")
        self.assert_free("na", "nb", "nc")
        wait_for("the last three to stay", lambda: self.jobs() == ["failing-3", "failing-4", "failing-5"], detail=job.show)
        wait_for("their pods to be released", lambda: len(self.released(job)) == 3, detail=job.show)
        self.assertIn("this is attempt 2", self.logs("failing-3"))
        self.assertIn("this is attempt 4", self.logs("failing-5"))

    def test_a_released_pod_that_somebody_deletes_changes_nothing(self):
        job = self.submit("deleted", "true")
        job.wait_condition("Complete")
        pod = wait_for("its pod to be released", lambda: self.released(job), detail=job.show)[0]
        self.api.delete("pods", pod["metadata"]["name"], self.namespace)
        wait_for("the pod to be gone", lambda: not job.pods(), detail=job.show)
        self.assertEqual((["deleted-1"], "Succeeded", 1), (self.jobs(), job.phase(), job.status()["attempts"]))
