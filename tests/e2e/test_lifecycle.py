# SPDX-License-Identifier: Apache-2.0
"""One job from its creation to its end, in all the ways it can end."""

from bench.suite import teardown_real
from bench.suite.results import Results
from tests.kit.jobs import JobHandle
from tests.kit.kubectl import kubectl
from tests.kit.manifests import LISTEN, job_manifest, shell
from tests.kit.names import WORKER_FINALIZER
from tests.kit.operator_case import OperatorCase
from tests.kit.waiting import wait_for


class LifecycleTest(OperatorCase):
    def wait_no_pods(self, job):
        """Nodes are free when nothing runs there any more; the kubelet removes the object a moment later."""
        wait_for("the pods to be gone", lambda: not job.pods(), detail=job.show)

    def test_events_tell_the_story(self):
        # A worker that succeeds within 3 s may have no event of its start.
        job = self.submit("story", "[ $GPUPOOL_ATTEMPT -gt 0 ] || exit 3; sleep 5")
        job.wait_condition("Complete")
        wanted = ["WorkerFailed", "StartingWorkers", "Completed"]
        wait_for("the events", lambda: sorted(wanted) == sorted(e["reason"] for e in job.events()),
                 detail=lambda: str([e["reason"] for e in job.events()]))
        shown = kubectl(self.lab.kubeconfig, "-n", self.namespace, "describe", "gjob", "story")
        for text in (*wanted, "starts on " + job.status()["nodeNames"]):
            self.assertIn(text, shown.split("Events:")[-1])

    def test_a_job_that_simply_succeeds_has_one_event(self):
        job = self.submit("calm", "echo done")
        job.wait_condition("Complete")
        wait_for("the event", job.events)
        self.assertEqual(["Completed"], [event["reason"] for event in job.events()])

    def test_deletion_while_a_job_runs(self):
        for gpus in (1, 3):
            with self.subTest(gpus=gpus):
                job = self.submit(f"deleted-{gpus}", gpus=gpus,
                                  container=shell(LISTEN + "sleep 3600"))
                job.wait_phase("Running")
                nodes = job.nodes()
                self.assertEqual(gpus, len(nodes))
                job.delete()
                job.wait_gone()
                self.assert_free(*nodes)
                self.wait_no_pods(job)

    def test_deletion_in_the_foreground(self):
        job = self.submit("foreground")
        job.wait_phase("Running")
        self.api.delete("gpujobs", "foreground", self.namespace, propagationPolicy="Foreground")
        job.wait_gone()
        self.assert_free("na", "nb", "nc")

    def test_suspend_and_resume(self):
        job = self.submit("suspended", "[ $GPUPOOL_ATTEMPT -gt 0 ] || sleep 3600")
        job.wait_phase("Running")
        job.patch(suspend=True)
        job.wait_condition("Suspended")
        job.wait("no lease", lambda status: not status.get("lease"))
        self.assert_free("na", "nb", "nc")
        self.wait_no_pods(job)
        job.patch(suspend=False)
        status = job.wait_condition("Complete")
        self.assertEqual((2, 0), (status["attempts"], status.get("failures", 0)))

    def test_suspended_from_the_beginning(self):
        job = self.submit("waits", "true", suspend=True)
        job.wait_condition("Suspended")
        self.assertIsNone(job.lease())
        job.patch(suspend=False)
        job.wait_condition("Complete")

    def test_ttl_after_finished(self):
        job = self.submit("ttl", "true", ttlSecondsAfterFinished=2)
        job.wait_gone()
        self.assert_free("na", "nb", "nc")

    def test_image_that_cannot_be_pulled(self):
        container = shell("true", image="gpupool.dev/missing:1", imagePullPolicy="Never")
        job = self.submit("no-image", container=container, startTimeoutSeconds=3600)
        job.wait("the image's problem in the message", lambda s: "ErrImageNeverPull" in s.get("message", ""))
        job.patch(startTimeoutSeconds=1)  # from now on it is too late
        status = job.wait_condition("Failed")
        self.assertEqual("StartTimeout", status["reason"])
        self.assertIn("ErrImageNeverPull", status["message"])
        self.assert_free("na", "nb", "nc")

    def test_command_that_is_missing(self):
        container = {**shell(""), "command": ["/no/such/program"]}
        job = self.submit("no-command", container=container, backoffLimit=0)
        status = job.wait_condition("Failed")
        self.assertEqual("BackoffLimitExceeded", status["reason"])
        self.assertIn("/no/such/program", status["message"])

    def test_words_and_newlines_of_a_command_arrive_unchanged(self):
        script = """[ "$1" = "two  words" ] && [ "$2" = "a\nb" ] && [ "$3" = '\\$HOME' ] && [ $# = 3 ]"""
        container = {**shell(""), "command": ["sh", "-c"], "args": [script, "x", "two  words", "a\nb", "\\$HOME"]}
        self.submit("words", container=container, backoffLimit=0).wait_condition("Complete")

    def test_namespace_is_deleted_with_a_running_job(self):
        job = self.submit("doomed", gpus=2, container=shell(LISTEN + "sleep 3600"))
        job.wait_phase("Running")
        self.api.delete("namespaces", self.namespace)
        wait_for("the namespace to be gone", lambda: not self.api.find("namespaces", self.namespace), detail=job.show)
        self.assert_free("na", "nb", "nc")

    def test_workers_hold_their_nodes_alone(self):
        job = self.submit("alone")
        job.wait_phase("Running")
        (name,) = job.nodes()
        node = self.api.get("nodes", name)
        lease = job.lease()["id"]
        self.assertIn({"key": "gpupool.dev/lease", "value": lease, "effect": "NoSchedule"}, node["spec"]["taints"])
        (pod,) = job.pods()
        self.assertIn(WORKER_FINALIZER, pod["metadata"]["finalizers"])
        self.assertEqual(name, pod["spec"]["nodeName"])
        shown = kubectl(self.lab.kubeconfig, "-n", self.namespace, "exec", pod["metadata"]["name"], "--", "df", "-k", "/dev/shm")
        self.assertGreater(int(shown.splitlines()[-1].split()[1]), 64 * 1024, shown)


class QueueTest(OperatorCase):
    def test_first_come_first_served_within_priority(self):
        first = self.submit("first", gpus=1, nodes=["na"])  # until all others are in the queue
        first.wait_phase("Running")
        names = []
        for name, priority in (("low", -1), ("early", 0), ("late", 0), ("high", 5)):
            self.submit(name, "sleep 1", nodes=["na"], priority=priority)
            names.append(name)
            JobHandle(self.api, name, self.namespace).wait("a reason to wait", lambda s: s.get("reason"))
        first.delete()
        jobs = [JobHandle(self.api, name, self.namespace) for name in names]
        for job in jobs:
            job.wait_condition("Complete")
        begun = sorted(jobs, key=lambda job: job.status()["startTime"])
        self.assertEqual(["high", "early", "late", "low"], [job.name for job in begun])

    def test_large_job_is_not_starved_by_small_ones(self):
        running = self.submit("running")
        running.wait_phase("Running")
        large = self.submit_manifest(job_manifest("large", self.namespace, self.pool, gpus=3, container=shell(
            LISTEN + "sleep 1")))
        large.wait_reason("WaitingForNodes")
        small = self.submit("small", "true")
        small.wait_behind_others()
        running.delete()
        done = large.wait_condition("Complete")
        self.assertLessEqual(done["startTime"], small.wait_condition("Complete")["startTime"])

    def test_waiting_job_starts_when_room_appears(self):
        holder = self.submit("holder", gpus=3, container=shell(LISTEN + "sleep 3600"))
        holder.wait_phase("Running")
        waiting = self.submit("waiting", "true")
        waiting.wait_reason("WaitingForNodes")
        holder.delete()
        waiting.wait_condition("Complete")


class BenchmarkTest(OperatorCase):
    def test_teardown_can_be_measured(self):
        """bench/run teardown-real does this on a cluster of its own, again and again."""
        results = Results({})
        command = {"takes a second": "trap 'sleep 1; exit 0' TERM; while :; do sleep 3600 & wait $!; done"}
        teardown_real.measure(results, self.api, self.namespace, self.pool, ["na", "nb", "nc"], 1, command)
        times = {row["name"]: row["median"] for row in results.rows()}
        for subject in ("floor", "operator"):
            ended, gone = (times[f"takes a second: deleted to all {event}: {subject}"]
                           for event in ("containers ended", "pods gone"))
            self.assertLess(0.9, ended)
            self.assertLessEqual(ended, gone)
        self.assertLess(0.9, times["takes a second: deleted to all nodes free: operator"])
