# SPDX-License-Identifier: Apache-2.0
"""An API server that is slow, or that the operator does not see: what runs is left alone until it has looked."""

import os
import time

from tests.integration.operator.proxy_case import ProxyCase
from tests.kit.waiting import holds_for, wait_for

DELAY = float(os.environ.get("DELAY", "0.5"))


class BlindTest(ProxyCase):
    """Its watches have stopped, its other calls work: what it knows is old, and it could act on it."""

    def run_two(self):
        one, gang = self.submit("one"), self.submit("gang", gpus=2)
        for job in (one, gang):
            job.wait_phase("Running")
        return one, gang

    def check_unharmed(self, one, gang, before):
        self.assertEqual(before, (self.uids(one), self.uids(gang)))
        self.assertEqual((1, 1), (one.status()["attempts"], gang.status()["attempts"]))
        self.proxy.mend()
        self.finish(one)
        self.finish(gang, ranks=(0, 1))
        for job in (one, gang):
            self.assertEqual(1, job.wait_condition("Complete")["attempts"])

    @staticmethod
    def uids(job):
        return sorted(pod["metadata"]["uid"] for pod in job.pods())

    def test_node_that_came_back_unseen_is_not_lost(self):
        one, gang = self.run_two()
        before = self.uids(one), self.uids(gang)
        held = {one.nodes()[0], gang.nodes()[0]}
        for node in held:
            self.nodes.set_ready(node, "Unknown")
        self.wait_pool(nodes={"ready": 1})
        self.proxy.blindfold()
        for node in held:
            self.nodes.set_ready(node, "True")
        holds_for("the workers stay", lambda: before == (self.uids(one), self.uids(gang)), 5)
        self.check_unharmed(one, gang, before)

    def test_workers_that_started_unseen_are_not_late(self):
        self.kubelet.dead.update(self.node_names)
        job = self.submit("slow")
        wait_for("its worker to be bound", lambda: any(p["spec"].get("nodeName") for p in job.pods()), detail=job.show)
        job.wait("lease in use", lambda s: (s.get("lease") or {}).get("state") == "Running")
        before = self.uids(job)
        late = job.start_timeout_in(8)
        self.proxy.blindfold()
        self.kubelet.dead.clear()
        self.worker(job)
        holds_for("the worker stays", lambda: before == self.uids(job) and job.phase() != "Releasing",
                  late - time.time() + 2)
        self.proxy.mend()
        job.wait_phase("Running")
        self.assertEqual(before, self.uids(job))

    def test_job_that_ended_unseen_is_not_too_late(self):
        job = self.submit("just-in-time")
        job.wait_phase("Running")
        job.deadline_in(8)
        self.proxy.blindfold()
        self.finish(job)
        wait_for("the outcome", lambda: job.status().get("completionTime"), detail=job.show)
        self.proxy.mend()
        self.assertEqual(("Complete", 1), ("Complete" if job.wait_condition("Complete") else "", 1))


class SlowTest(ProxyCase):
    """DELAY=2 makes every answer come so many seconds later (0.5)."""

    def test_lives_of_jobs_on_a_slow_server(self):
        self.proxy.delay = DELAY
        one, gang, gone = self.submit("one"), self.submit("gang", gpus=2), self.submit("gone", suspend=True)
        limit = 60 + 60 * DELAY
        one.wait_phase("Running", limit=limit)
        gang.wait_phase("Running", limit=limit)
        self.finish(one)
        self.finish(gang, ranks=(0, 1))
        gone.delete()
        for job in (one, gang):
            self.assertEqual(1, job.wait_condition("Complete", limit=limit)["attempts"])
        gone.wait_gone(limit=limit)
        wait_for("nodes to be free", lambda: not self.nodes.traces(), limit, lambda: str(self.nodes.traces()))


class UnreadableFieldsTest(ProxyCase):
    """Without the OpenAPI document, the operator does not know the names of fields."""

    def test_jobs_run(self):
        self.proxied.stop()
        admit = self.proxy.admit
        self.proxy.admit = lambda method, path: admit(method, path) and not path.startswith("/openapi")
        self.proxied.start()
        self.submit("misspelled", pod={"hostNetwrok": True}).wait_phase("Running")
        self.assertIn("unknown fields in pod templates are not found", self.proxied.log())
