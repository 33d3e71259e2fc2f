# SPDX-License-Identifier: Apache-2.0
"""The answer to a person who asks why a job waits."""

from tests.kit.jobs import JobHandle
from tests.kit.manifests import pool_manifest
from tests.kit.names import POOL_LABEL
from tests.kit.played.case import FakeClusterCase
from tests.kit.played.sharing_case import SharingCase
from tests.kit.waiting import holds_for

EXPLAIN = "gpupool.dev/explain"


def ask(job: JobHandle, nonce: str) -> dict:
    job.api.patch("gpujobs", job.name, {"metadata": {"annotations": {EXPLAIN: nonce}}}, namespace=job.namespace)
    return job.wait(f"the answer to {nonce}", lambda s: s.get("explanation", {}).get("request") == nonce and s["explanation"])


class ExplainTest(FakeClusterCase):
    def setUp(self):
        super().setUp()
        self.theirs = self.namespace + "-theirs"
        self.lab.make_namespace(self.theirs)
        self.addCleanup(self.api.delete, "namespaces", self.theirs)

    def test_a_job_that_waits(self):
        holder = self.submit("holder", gpus=2, activeDeadlineSeconds=3600, namespace=self.theirs)
        holder.wait_phase("Running")
        ahead = self.submit("secret", gpus=3, activeDeadlineSeconds=3600, priority=1, namespace=self.theirs)
        ahead.wait_reason("WaitingForNodes")
        mine = self.submit("mine", gpus=2, activeDeadlineSeconds=600)
        job = self.submit("me", gpus=2)
        job.wait_reason("WaitingForNodes")
        holds_for("nobody asks, nothing is told", lambda: "explanation" not in job.status(), 2)
        spare = "spare-" + self.pool
        self.nodes.add(spare + "-n", {POOL_LABEL: spare})
        self.nodes.add(spare + "-m", {POOL_LABEL: spare})
        self.api.create("gpupools", pool_manifest(spare, {POOL_LABEL: spare}))
        self.wait_pool(spare, nodes={"available": 2})
        answer = ask(job, "n1")
        self.assertEqual("2 workers with 1 GPU each", answer["wants"])
        self.assertEqual({"name": self.pool, "nodes": 3, "leased": 2, "free": 1, "gpus": {"total": 3, "free": 1}},
                         answer["pool"])
        self.assertEqual({"jobs": 2, "gpus": 5, "higherPriority": 1, "yours": ["mine"]}, answer["ahead"])
        self.assertEqual("Deadlines", answer["start"]["basis"])
        self.assertLess(answer["start"]["to"], answer["start"]["latest"])
        self.assertEqual([f"in pool {spare}"], answer["sooner"])
        for name in ("holder", "secret", self.theirs):
            self.assertNotIn(name, str(answer))
        version = job.read()["metadata"]["resourceVersion"]
        self.restart_operator()
        job.wait_reason("WaitingForNodes")
        holds_for("it is answered once", lambda: job.read()["metadata"]["resourceVersion"] == version, 3)
        for other in (mine, ahead):
            self.assertNotIn("explanation", other.status())

    def test_jobs_that_do_not_wait_for_nodes(self):
        runs = self.submit("runs")
        runs.wait_phase("Running")
        self.assertIn("runs runs for", ask(runs, "a")["text"])
        sleeps = self.submit("sleeps", suspend=True)
        sleeps.wait_phase("Suspended")
        self.assertIn("is suspended", ask(sleeps, "a")["text"])
        lost = self.submit("lost", pool="elsewhere")
        lost.wait_phase("Invalid")
        self.assertIn("PoolNotFound: there is no GpuPool elsewhere", ask(lost, "a")["text"])
        self.finish(runs)
        runs.wait_condition("Complete")
        self.assertIn("ended with success", ask(runs, "b")["text"])


class ExplainSlicesTest(SharingCase):
    def test_a_job_that_waits_for_slices(self):
        for i, _ in enumerate(self.node_names):
            self.submit_slices(f"holder-{i}", 7).wait_phase("Running")
        job = self.submit_slices("me", 6)
        job.wait_reason("WaitingForNodes")
        answer = ask(job, "n1")
        self.assertEqual("1 worker with 6 slices", answer["wants"])
        self.assertEqual({"total": 30, "free": 9}, answer["pool"]["slices"])
        self.assertEqual(["with 3 slices"], answer["sooner"])
