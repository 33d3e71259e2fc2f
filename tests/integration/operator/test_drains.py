# SPDX-License-Identifier: Apache-2.0
"""Nodes that people drain, and jobs that they restart or move on request."""

import datetime
import time

from tests.integration.operator.test_nodes import NodeCase
from tests.kit.manifests import shell
from tests.kit.times import unix_seconds
from tests.kit.waiting import holds_for, wait_for

LONG_AGO = "2020-01-01T00:00:00Z"


class DrainCase(NodeCase):
    """Jobs save their work: when they are told to stop in attempt n, at step 100 * (n + 1)."""

    def start(self, gpus=2, name="job", **spec):
        job = self.submit(name, gpus=gpus, **{"checkpoint": {}, **spec})
        job.wait_phase("Running")
        return job

    def wait_told(self, job, reason, text):
        """An event of this reason says this."""
        wait_for(f"event {reason}: {text}", lambda: any(e["reason"] == reason and text in e["note"] for e in job.events()),
                 detail=lambda: str([(e["reason"], e["note"]) for e in job.events()]))

    def wait_draining(self, *told):
        """What the status of the pool says of drains: (node, job that it waits for)."""
        wait_for(f"the pool to tell of {told}", lambda: told == tuple(
            (entry["node"], entry["waitsFor"]) for entry in self.pool_status().get("draining", [])),
                 detail=lambda: str(self.pool_status()))

    def complete(self, job, attempts, ranks=(0, 1)):
        """Why earlier attempts ended, and from which steps the next ones went on."""
        super().complete(job, attempts, ranks)
        return [(end["cause"], end.get("fromStep")) for end in job.status().get("history", [])]


class AnnotationTest(DrainCase):
    def test_a_gang_stays_until_another_node_is_free_and_then_moves(self):
        job, other = self.start(), self.start(name="other")
        left, kept = job.nodes()
        self.nodes.drain(left)
        status = job.wait_reason("Draining")
        self.assertIn(f"node {left} is drained; the job runs on it until another node is free", status["message"])
        self.assertEqual(("Running", 1), (status["phase"], status["attempts"]))
        self.wait_draining((left, f"{self.namespace}/job"))
        came = other.nodes()
        self.finish(other, ranks=(0, 1))
        self.wait_attempt(job, 1)
        self.assertIn(kept, job.nodes())
        self.assertTrue(set(job.nodes()) <= {kept, *came}, job.nodes())
        self.wait_told(job, "Checkpointed", "attempt 0 saved its work at step 100, in step-100")
        self.wait_told(job, "StartingWorkers", f"node {left} drained; attempt 1 starts on ")
        self.wait_told(job, "StartingWorkers", " from step 100, 0 s of work repeated")
        self.wait_draining()
        (end,) = job.status()["history"]
        self.assertEqual((0, "Draining", left, 100), (end.get("attempt", 0), end["cause"], end["left"], end["fromStep"]))
        self.wait_free(left)
        self.assertEqual([("Draining", 100)], self.complete(job, 2))

    def test_no_job_comes_to_a_drained_node(self):
        self.nodes.drain(self.node_names[0])
        jobs = [self.submit(f"job-{i}", gpus=1) for i in range(4)]
        for job in jobs[:3]:
            job.wait_phase("Running")
        jobs[3].wait_reason("WaitingForNodes")
        holds_for("the drained node stays free", lambda: not jobs[3].nodes(), 1)
        self.nodes.end_drain(self.node_names[0])
        jobs[3].wait_phase("Running")
        self.assertEqual(self.node_names[:1], jobs[3].nodes())

    def test_one_that_is_taken_back_changes_nothing(self):
        job = self.start(4)
        lease, pods = job.lease()["id"], {pod["metadata"]["uid"] for pod in job.pods()}
        soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(minutes=5)
        self.nodes.drain(job.nodes()[0], soon.strftime("%Y-%m-%dT%H:%M:%SZ"))
        self.assertIn("at most until " + soon.strftime("%Y-%m-%dT%H:%M:%SZ"), job.wait_reason("Draining")["message"])
        self.nodes.end_drain(job.nodes()[0])
        job.wait_reason("WorkersRunning")
        self.assertEqual((lease, pods), (job.lease()["id"], {pod["metadata"]["uid"] for pod in job.pods()}))
        self.assertEqual([], self.complete(job, 1, range(4)))

    def test_a_text_that_is_no_time_is_a_drain_without_a_deadline(self):
        job = self.start(4)
        self.nodes.drain(job.nodes()[0], "at six")
        job.wait_reason("Draining")
        wait_for("the pool to tell what is wrong", lambda: "at six" in str(self.pool_status().get("draining")),
                 detail=lambda: str(self.pool_status()))
        holds_for("it runs on", lambda: job.phase() == "Running", 1)


class DeadlineTest(DrainCase):
    def test_the_job_goes_to_the_queue_and_its_clock_stands_there(self):
        job = self.start(4, activeDeadlineSeconds=3600)
        victim, begin = job.nodes()[0], unix_seconds(job.status()["startTime"])
        deadline = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=4)
        self.nodes.drain(victim, deadline.strftime("%Y-%m-%dT%H:%M:%SZ"))
        status = job.wait_phase("Queued")
        held = status["activeSeconds"]
        self.assertGreaterEqual(time.time(), int(deadline.timestamp()))
        self.assertNotIn("startTime", status)
        self.assertGreaterEqual(held, int(deadline.timestamp()) - begin)
        self.assertLess(held, time.time() - begin + 1)
        self.wait_free(*self.node_names)
        time.sleep(2)  # that do not count
        self.nodes.end_drain(victim)
        self.wait_attempt(job, 1)
        job.patch(activeDeadlineSeconds=held + 1)  # over, now that it has nodes again
        status = job.wait_phase("Failed")
        self.assertEqual("DeadlineExceeded", status["reason"])
        self.assertGreaterEqual(unix_seconds(status["completionTime"]) - unix_seconds(status["startTime"]), held)

    def test_a_job_that_keeps_its_nodes_waits_for_them(self):
        job = self.start(nodeReplacement="Never", nodes=self.node_names[:2])
        self.nodes.drain(self.node_names[0])
        job.wait_phase("Queued")
        self.nodes.end_drain(self.node_names[0])
        self.wait_attempt(job, 1)
        self.assertEqual(self.node_names[:2], job.nodes())
        self.assertEqual([("Draining", 100)], self.complete(job, 2))


class TwoDrainsTest(DrainCase):
    node_count = 3

    def test_of_nodes_whose_jobs_want_the_same_free_one(self):
        jobs = [self.start(1, name) for name in ("first", "second")]
        for node in [job.nodes()[0] for job in jobs]:
            self.nodes.drain(node)
        moved = wait_for("one of them to move", lambda: next((job for job in jobs if job.status()["attempts"] == 2), None))
        stays = next(job for job in jobs if job is not moved)
        self.wait_attempt(moved, 1)
        stays.wait_reason("Draining")
        holds_for("the other one runs on", lambda: (stays.phase(), stays.status()["attempts"]) == ("Running", 1), 1)
        (old,) = set(self.node_names) - set(moved.nodes()) - set(stays.nodes())
        self.nodes.end_drain(old)
        self.wait_attempt(stays, 1)
        self.assertEqual([old], stays.nodes())
        for job in jobs:
            self.complete(job, 2, (None,))

    def test_of_nodes_whose_jobs_want_each_others(self):
        """Both give up their nodes at the deadline; each would do with the other's, and gets it when that drain ends."""
        jobs = [self.start(1, f"job-{i}") for i in range(3)]
        first, second = jobs[0].nodes()[0], jobs[1].nodes()[0]
        self.nodes.drain(first, LONG_AGO)
        self.nodes.drain(second, LONG_AGO)
        for job in jobs[:2]:
            job.wait_phase("Queued")
        self.wait_free(first, second)
        self.nodes.end_drain(second)
        runs = wait_for("one to get the other's node", lambda: next((job for job in jobs[:2] if job.nodes()), None))
        self.wait_attempt(runs, 1)
        self.assertEqual([second], runs.nodes())
        self.nodes.end_drain(first)
        for job in jobs[:2]:
            self.wait_attempt(job, 1)
            self.complete(job, 2, (None,))
        self.complete(jobs[2], 1, (None,))


class RestartTest(DrainCase):
    def test_on_other_nodes(self):
        job = self.start(nodes=self.node_names[:2])
        job.patch(nodes=self.node_names[2:])
        job.wait_condition("Stalled")
        job.ask_restart("move")
        self.wait_attempt(job, 1)
        self.assertEqual((self.node_names[2:], "move"), (job.nodes(), job.status()["restarted"]))
        self.wait_told(job, "StartingWorkers", "restart requested; attempt 1 starts on ")
        self.wait_free(*self.node_names[:2])
        self.assertEqual([("Moving", 100)], self.complete(job, 2))

    def test_with_a_changed_template(self):
        job = self.start(1)
        before, nodes = job.lease()["specHash"], job.nodes()
        job.patch(template={"spec": {"containers": [shell("sleep 1", env=[{"name": "RATE", "value": "2"}])]}})
        job.wait_condition("Stalled")
        job.ask_restart("changed")
        self.wait_attempt(job, 1)
        self.assertIn({"name": "RATE", "value": "2"}, self.worker(job)["spec"]["containers"][0]["env"])
        self.assertNotEqual(before, job.lease()["specHash"])
        self.assertEqual((nodes, "False"), (job.nodes(), job.condition("Stalled") or "False"))
        self.complete(job, 2, (None,))

    def test_a_request_is_done_once(self):
        job = self.start(1)
        job.ask_restart("once")
        self.wait_attempt(job, 1)
        self.restart_operator()
        job.ask_restart("once")
        holds_for("the attempt runs on", lambda: job.status()["attempts"] == 2, 2)
        job.ask_restart("twice")
        self.wait_attempt(job, 2)
        self.assertEqual("twice", job.status()["restarted"])
        self.complete(job, 3, (None,))

    def test_a_template_that_the_server_refuses_is_not_started(self):
        job = self.start(1)
        job.patch(template={"spec": {"containers": [shell("sleep 1", env=[{"name": "a=b"}])]}})
        job.ask_restart("bad")
        message = job.wait("the refusal", lambda s: "the restart is not done" in s.get("message", "") and s)["message"]
        self.assertIn("the workers run on", message)
        holds_for("they run on", lambda: (job.phase(), job.status()["attempts"]) == ("Running", 1), 1)
        job.patch(template={"spec": {"containers": [shell("sleep 1")]}})
        self.wait_attempt(job, 1)
        self.complete(job, 2, (None,))


class OldDataTest(DrainCase):
    def test_a_running_job_of_data_version_1_is_taken_over(self):
        """Its lease does not say since when it is held, and its status knows nothing of earlier attempts."""
        job = self.start(checkpoint=None)
        pods = {pod["metadata"]["uid"] for pod in job.pods()}
        self.operator.kill()
        new = {"lease": {"heldSince": None}, "activeSeconds": None, "history": None, "checkpoint": None, "restarted": None}
        self.api.patch("gpujobs", job.name, {"status": new}, self.namespace, "status")
        before = job.status()
        self.operator.start()
        holds_for("nothing changes", lambda: job.status() == before, 2)
        self.assertEqual(pods, {pod["metadata"]["uid"] for pod in job.pods()})
        left = job.nodes()[0]
        self.nodes.drain(left)
        self.wait_attempt(job, 1)
        self.assertNotIn(left, job.nodes())
        self.complete(job, 2)
        self.assertEqual(["Draining"], [end["cause"] for end in job.status()["history"]])
