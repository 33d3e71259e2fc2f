# SPDX-License-Identifier: Apache-2.0
"""spec.source and spec.results: what the reports of gpupool-carry do to a job."""

import dataclasses
import time
from typing import Callable

from tests.integration.operator.proxy_case import ProxyCase
from tests.kit.api import ApiError
from tests.kit.manifests import COMMIT, RESULTS, SOURCE, shell
from tests.kit.played import transfers
from tests.kit.played.case import FakeClusterCase
from tests.kit.times import unix_seconds
from tests.kit.waiting import wait_for

ITEMS = SOURCE["items"]
FINAL = ["SourceDenied", "SourceNotFound", "SourceMismatch", "SourceTooLarge", "SourceInvalid"]


def results(**change):
    return [{**RESULTS[0], **change}]


@dataclasses.dataclass
class Row:
    """A job, what gpupool-carry does in its pods, and what is checked when all have been submitted."""

    name: str
    check: Callable  # (test, job)
    gpus: int = 1
    source: Callable | None = None  # plans
    results: Callable | None = None
    spec: dict = dataclasses.field(default_factory=dict)


def ends(reason, failures=0, text=""):
    """Failed, with its nodes given back, and the source is said to have failed."""
    def check(test, job):
        status = job.wait_condition("Failed")
        test.assertEqual((reason, failures), (status["reason"], status.get("failures", 0)), job.show())
        test.assertIn(text, status["message"])
        test.assertEqual("Failed" if text != "other bytes" else "Fetched", status["source"]["state"])
        test.assertFalse(status.get("lease"))
        if text != "other bytes":  # which is known when the first ranks run
            test.assertNotIn("results", status, "nothing has run")
            test.assertFalse([name for name in test.kubelet.started if name.startswith(job.name + "-")])
    return check


def completes(attempts=1, failures=0, **transferred):
    """transferred: states of source and results."""
    def check(test, job):
        test.finish_all(job)
        status = job.wait_condition("Complete")
        test.assertEqual((attempts, failures), (status["attempts"], status.get("failures", 0)), job.show())
        for name, state in transferred.items():
            test.assertEqual((state, attempts - 1), (status[name]["state"], status[name]["attempt"]))
    return check


def told_in_full(test, job):
    test.finish_all(job)
    status = job.wait_condition("Complete")
    items = {item["path"]: item for item in status["source"]["items"]}
    test.assertEqual(["data", "code"], list(items))
    test.assertEqual("git:" + COMMIT, items["code"]["digest"])
    test.assertEqual((2 * transfers.BYTES, 2), (status["source"]["bytes"], status["source"]["seconds"]))
    test.assertEqual([{"path": "/gpupool/work/out", "state": "Complete", "to": f"s3://lab/{job.name}/0/0", "files": 1,
                       "bytes": transfers.BYTES}], status["results"]["items"])


def gives_up_on_results(test, job):
    """After timeoutSeconds and half a minute more. It was saving when the other rows began."""
    status = job.wait_condition("Complete")
    test.assertLess(unix_seconds(status["completionTime"]) - unix_seconds(status["startTime"]), 150)
    test.assertGreaterEqual(unix_seconds(status["completionTime"]) - unix_seconds(status["startTime"]), 31)
    test.assertEqual("Incomplete", status["results"]["state"])
    test.assertIn("its results are incomplete: /gpupool/work/out: rank 0: was ended before it could say", status["message"])


def incomplete(text):
    def check(test, job):
        test.finish_all(job)
        status = job.wait_condition("Complete")
        test.assertEqual("Incomplete", status["results"]["state"])
        test.assertIn(f"its results are incomplete: /gpupool/work/out: rank 0: {text}", status["message"])
    return check


def saves_what_crashed(test, job):
    """A failed attempt ends when its results are there."""
    test.kubelet.finish(test.worker(job), 3)
    status = job.wait_condition("Failed")
    test.assertEqual(("BackoffLimitExceeded", "Complete"), (status["reason"], status["results"]["state"]))


def is_suspended(test, job):
    test.wait_fetching(job)
    job.patch(suspend=True)
    status = job.wait_phase("Suspended")
    test.assertFalse(status.get("lease"))
    test.assertNotIn("source", status)


def is_deleted(test, job):
    test.wait_fetching(job)
    job.delete()
    job.wait_gone()


def fetches_too_long(test, job):
    """Both limits together: one second, and four."""
    test.wait_fetching(job)
    job.patch(startTimeoutSeconds=1)
    status = job.wait_condition("Failed")
    test.assertEqual("StartTimeout", status["reason"])
    test.assertIn("did not start within 5 s: rank 0 fetches its source", status["message"])


def may_fetch_on(test, job):
    """startTimeoutSeconds has passed, as the job of fetches_too_long shows."""
    test.wait_fetching(job)
    job.patch(startTimeoutSeconds=1)
    test.late.wait_condition("Failed")
    test.assertEqual("Starting", job.phase())
    test.kubelet.transfers.sources.pop((job.namespace, job.name))
    completes(source="Fetched")(test, job)


TABLE = [
    Row("unsaved-1", gives_up_on_results, results=transfers.never, spec={"results": results(timeoutSeconds=1)}),
    Row("unsaved-2", gives_up_on_results, 2, results=transfers.never,
        spec={"results": results(timeoutSeconds=1, ranks=[0, 1])}),
    Row("late", fetches_too_long, source=transfers.never, spec={"source": {**SOURCE, "timeoutSeconds": 4}}),
    Row("patient", may_fetch_on, source=transfers.never),
    Row("told-1", told_in_full, spec={"results": RESULTS}),
    Row("told-2", told_in_full, 2, spec={"results": RESULTS}),
    *(Row(f"{reason.lower()}-{gpus}", ends(reason, text="rank 0: source: data: no"), gpus, source=transfers.fails(reason),
          spec={"results": RESULTS})
      for reason in FINAL for gpus in (1, 2)),
    Row("away-1", ends("BackoffLimitExceeded", 1, "source: data: no"), source=transfers.fails("SourceUnavailable"),
        spec={"backoffLimit": 0}),
    Row("away-2", completes(2, 1, source="Fetched"), 2,
        source=transfers.by_attempt(transfers.fails("SourceUnavailable"), transfers.fetched)),
    Row("killed-1", completes(2, source="Fetched"), source=transfers.in_turn(transfers.killed, transfers.fetched)),
    Row("killed-2", completes(source="Fetched"), 2, source=transfers.in_turn(transfers.killed, transfers.fetched)),
    Row("changed", ends("BackoffLimitExceeded", 1, "other bytes"), 3, source=transfers.other_bytes_on(2),
        spec={"backoffLimit": 0}),
    Row("full", incomplete("no space"), results=transfers.not_saved("no space"), spec={"results": RESULTS}),
    Row("gone-1", incomplete("was ended before it could say"), results=transfers.killed,
        spec={"results": results(timeoutSeconds=86400)}),
    Row("gone-2", completes(results="Complete"), 2, results=transfers.in_turn(transfers.killed, transfers.saved),
        spec={"results": RESULTS}),
    Row("crashed", saves_what_crashed, spec={"results": RESULTS, "backoffLimit": 0}),
    Row("suspended", is_suspended, 2, source=transfers.never),
    Row("deleted", is_deleted, 2, source=transfers.never),
]


class TransferTest(FakeClusterCase):
    node_count = sum(row.gpus for row in TABLE)

    def test_what_becomes_of_source_and_results(self):
        """All rows at the same time, each with a job of its own; those that take longest are looked at last."""
        jobs = {}
        for row in TABLE:
            for plans, plan in ((self.kubelet.transfers.sources, row.source), (self.kubelet.transfers.results, row.results)):
                if plan:
                    plans[self.namespace, row.name] = plan
            jobs[row.name] = self.submit(row.name, **{"gpus": row.gpus, "rendezvous": "None", "source": SOURCE, **row.spec})
        self.late = jobs["late"]
        for row in TABLE[:2]:
            self.finish_all(jobs[row.name])
        for row in TABLE[:2]:
            saving = jobs[row.name].wait("word that results are being saved",
                                         lambda s: "results are being saved" in s.get("message", "") and s)
            self.assertEqual("Running", saving["phase"])
        for row in [*TABLE[2:], *TABLE[:2]]:
            with self.subTest(row.name):
                row.check(self, jobs[row.name])
        self.wait_pool(nodes={"leased": 0})

    def finish_all(self, job):
        """The commands of all ranks of its present attempt; once is enough."""
        job.wait_phase("Running", "Succeeded")
        for pod in job.pods():
            status = transfers.status_of(pod, "worker")
            if status and "running" in status["state"] and not status["lastState"]:
                self.kubelet.finish(pod)

    @staticmethod
    def wait_fetching(job):
        job.wait("word that it fetches", lambda s: "the source is being fetched" in s.get("message", ""))


class WritesTest(ProxyCase):
    node_count = 4

    def writes_of(self, name, gpus, **spec):
        begin, job = time.monotonic(), self.submit(name, gpus=gpus, rendezvous="None", **spec)
        job.wait_phase("Running")
        self.finish(job, ranks=range(gpus) if gpus > 1 else (None,))
        job.wait_condition("Complete")
        wait_for("its pods to be released", lambda: not any(p["metadata"].get("finalizers") for p in job.pods()))
        aside = ("/events", "/gpupools", "dryRun")
        return [write for write in self.proxy.writes_since(begin) if not any(text in write for text in aside)]

    def test_they_cost_few_writes(self):
        for gpus in (1, 4):
            plain, both = [], []
            for again in range(3):  # on a busy machine workers start and end one by one, and each may be a write of its own
                plain.append(self.writes_of(f"plain-{gpus}-{again}", gpus))
                both.append(self.writes_of(f"both-{gpus}-{again}", gpus, source=SOURCE,
                                           results=results(ranks=list(range(gpus)))))
                if len(both[-1]) <= len(plain[-1]) + 3:
                    break
            least, most = min(plain, key=len), min(both, key=len)
            print(f"{len(least)} writes, {len(most)} with source and results ", end="", flush=True)
            self.assertGreater(len(least), 5)
            self.assertLessEqual(len(most), len(least) + 3, "\n".join([*most, "without:", *least]))


BAD = {
    "spec.source.items[0]: path must not have an empty part": {"source": {"items": [{**ITEMS[0], "path": "a/../b"}]}},
    "spec.source.items[0]: needs exactly one of http": {"source": {"items": [{**ITEMS[0], "git": ITEMS[1]["git"]}]}},
    "spec.source.items[0]: http.url must not contain a user": {
        "source": {"items": [{"path": "a", "http": {"url": "https://me:word@example.com/a"}}]}},
    "spec.source.items[1]: path overlaps with that of items[0]": {"source": {"items": [ITEMS[0], {**ITEMS[1], "path": "data/x"}]}},
    "spec.source.items[0]: csv.from must be the path of an item before": {
        "source": {"items": [{"path": "b", "csv": {"from": "data"}}, ITEMS[0]]}},
    "spec.source.sizeLimit": {"source": {"items": ITEMS, "sizeLimit": "much"}},
    "spec.results[0]: ranks: the job has no rank 1": {"results": results(ranks=[1])},
    "spec.results[0]: to needs either s3 or volume": {"results": results(to={})},
    "spec.results[0]: syncSeconds must be 0 or from 10": {"results": results(syncSeconds=5)},
}


class BadDataTest(FakeClusterCase):
    node_count = 1

    def test_what_the_operator_refuses(self):
        jobs = []
        for number, (text, spec) in enumerate(BAD.items()):
            try:
                jobs.append((text, self.submit(f"bad-{number}", **spec)))
            except ApiError as error:
                self.assertEqual(422, error.code)  # a CEL rule of newer servers
                self.assertTrue("exactly one" in text or "either" in text, error)
        for text, job in jobs:
            with self.subTest(text):
                status = job.wait_phase("Invalid")
                self.assertEqual(("InvalidSpec", None), (status["reason"], status.get("lease")))
                self.assertIn(text, status["message"])
                self.assertNotIn("me:word", status["message"])


class QuotaTest(FakeClusterCase):
    node_count = 1

    def test_quota_that_wants_limits_admits_all_containers(self):
        self.quota("limits", **{"requests.cpu": "8", "requests.memory": "8Gi", "limits.cpu": "8", "limits.memory": "8Gi"})
        amounts = {"cpu": "1", "memory": "1Gi"}
        job = self.submit("limited", container=shell("true", resources={"requests": amounts, "limits": amounts}),
                          source=SOURCE, results=RESULTS)
        job.wait_phase("Running")
        self.finish(job)
        job.wait_condition("Complete")
