# SPDX-License-Identifier: Apache-2.0
"""Device plugins report workers that use more memory of a GPU than their slices have."""

from typing import Any

from tests.kit.api import Object
from tests.kit.jobs import JobHandle
from tests.kit.played.sharing_case import SharingCase


def excess_of(pod: Object, end: bool, **other: Any) -> Object:
    meta = pod["metadata"]
    return {"namespace": meta["namespace"], "pod": meta["name"], "podUID": meta["uid"], "device": "GPU-7",
            "usedMiB": 9000, "limitMiB": 1600, "since": "2026-01-01T00:00:00Z", "end": end, **other}


class SliceExcessTest(SharingCase):
    def start(self, name: str, **options: Any) -> JobHandle:
        job = self.submit_slices(name, 1, nodes=[self.node_names[0]], **options)
        job.wait_phase("Running")
        return job

    def report(self, node: str, *excesses: Object) -> None:
        self.api.patch("gpunodes", node, {"status": {"excesses": list(excesses)}}, sub="status")

    def test_the_worker_is_ended_and_only_its_job_is_charged(self):
        greedy, neighbour = self.start("greedy", backoffLimit=1), self.start("neighbour", backoffLimit=0)
        self.report(greedy.nodes()[0], excess_of(self.worker(greedy), True))
        greedy.wait("the second attempt", lambda s: s.get("attempts") == 2 and s["phase"] == "Running")
        self.assertEqual(1, greedy.status()["failures"])
        self.report(greedy.nodes()[0], excess_of(self.worker(greedy), True))
        status = greedy.wait_condition("Failed")
        self.assertEqual(("SliceExceeded", 2), (status["reason"], status["failures"]))
        self.assertIn("used 9000 MiB of GPU-7", status["message"])
        self.assertEqual(("Running", 0), (neighbour.phase(), neighbour.status().get("failures", 0)))
        self.assertEqual(1, neighbour.status()["attempts"])

    def test_one_that_may_run_on_is_told_once(self):
        job = self.start("tolerated", backoffLimit=0)
        self.report(job.nodes()[0], excess_of(self.worker(job), False))
        job.wait_reason("SliceExceeded")
        version = job.read()["metadata"]["resourceVersion"]
        self.report(job.nodes()[0], excess_of(self.worker(job), False, usedMiB=9500))
        self.report(job.nodes()[0])
        self.finish(self.start("later"))
        self.assertEqual(("Running", version), (job.phase(), job.read()["metadata"]["resourceVersion"]))
        self.finish(job)
        job.wait_condition("Complete")

    def test_what_is_not_of_this_node_or_this_pod_is_not_believed(self):
        job = self.start("accused", backoffLimit=0)
        pod = self.worker(job)
        self.report(self.node_names[1], excess_of(pod, True))
        self.report(job.nodes()[0], excess_of(pod, True, podUID="an-earlier-pod"),
                    excess_of(pod, True, namespace="elsewhere"), {"device": "GPU-7", "end": True})
        self.finish(self.start("later"))
        self.assertEqual(("Running", 0), (job.phase(), job.status().get("failures", 0)))
        self.finish(job)
        job.wait_condition("Complete")
