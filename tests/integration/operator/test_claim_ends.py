# SPDX-License-Identifier: Apache-2.0
"""How claims end (spec.queue.yield), what holds them back, and what they cost. All stages play at the same time."""

import time

from tests.integration.operator.proxy_case import ProxyCase
from tests.integration.operator.test_claims import CHECKPOINT
from tests.kit.manifests import pool_manifest
from tests.kit.names import POOL_LABEL
from tests.kit.times import unix_seconds
from tests.kit.waiting import wait_for

GUARD = 16  # seconds; more than the 10 s that each claimant waits
LONGEST_MOVE = 30  # seconds; how long it takes is printed, and is in docs/queue.md
# Writes of a claim. Of the claimant: that it waits, its finalizer, the claim, that it takes the nodes, that it runs. Of
# the other job: that it is told, what its workers have saved, that its nodes are free, that it waits. In all also three
# of nodes, and the deletion of a StatefulSet, a Service and two workers, which are also released. Places that are told
# may add one each.
CLAIMANT, BORROWER, ALL = 5, 4, 18


class Stage:
    """A pool of two nodes, which a job of two workers has, and a job for one of them."""

    def __init__(self, case, name, seconds=1, queue=True):
        """seconds: so long jobs run before they make room."""
        self.case, self.name, self.pool = case, name, f"{case.pool}-{name}"
        self.nodes = [f"{self.pool}-n{number}" for number in range(2)]
        for node in self.nodes:
            case.nodes.add(node, {POOL_LABEL: self.pool})
        spec = {"queue": {"tenants": [{"name": "owner", "namespaces": [case.other], "guaranteed": 2}],
                          "yield": {"minRunSeconds": seconds}}} if queue else {}
        case.api.create("gpupools", pool_manifest(self.pool, {POOL_LABEL: self.pool}, **spec))
        self.borrower = case.submit(f"{name}-borrower", pool=self.pool, gpus=2, rendezvous="None",
                                    checkpoint=CHECKPOINT)
        self.firm = None
        self.began = 0.0
        self.ran_since = 0  # a time of the API

    def begin(self, dark=False):
        """dark: its kubelets do nothing from before there is a claimant, however long the other stages' beginning
        takes."""
        self.borrower.wait_condition("Running")
        if dark:
            self.darken()
        self.ran_since = unix_seconds(self.borrower.conditions()["Running"]["lastTransitionTime"])
        self.began = time.monotonic()
        self.firm = self.case.submit(f"{self.name}-firm", namespace=self.case.other, pool=self.pool, priority=9)

    def darken(self):
        """Its kubelets do nothing from now on."""
        self.case.kubelet.dead.update(self.nodes)

    def lighten(self):
        self.case.kubelet.dead.difference_update(self.nodes)

    def wait_told(self):
        """The job that makes room is."""
        return self.borrower.wait("to be told", lambda s: s.get("yields") == 1 and s)

    def wait_given_up(self, reason):
        """The claim is, and the job that makes room is not told again."""
        wait_for(f"the Event {reason}", lambda: any(event["reason"] == reason for event in self.firm.events()),
                 detail=self.firm.show)
        status = self.firm.status()
        self.case.assertEqual(("Queued", None, ""), (status["phase"], status.get("lease"), status.get("nodeNames", "")))
        self.case.assertEqual(("Releasing", 1), (self.borrower.phase(), self.borrower.status()["yields"]))

    def wait_moved(self, gpus=1):
        """The claimant runs, and the other one waits for its turn."""
        self.firm.wait_phase("Running")
        self.case.assertEqual(gpus, len(self.firm.nodes()))
        status = self.borrower.wait("its turn", lambda s: s["phase"] == "Queued" and not s.get("lease") and s)
        self.case.assertEqual((1, 0, 1), (status["yields"], status.get("failures", 0), status["attempts"]))


class ClaimEndsTest(ProxyCase):
    node_count = 0

    def setUp(self):
        super().setUp()
        self.other = self.namespace + "-b"
        self.lab.make_namespace(self.other)
        self.addCleanup(self.api.delete, "namespaces", self.other)

    def test_side_by_side(self):
        plain, stuck, done, edited, guarded, without = stages = (
            Stage(self, "plain"), Stage(self, "stuck"), Stage(self, "done"), Stage(self, "edited"),
            Stage(self, "guarded", seconds=GUARD), Stage(self, "without", queue=False))
        for stage in stages:
            stage.begin(dark=stage in (stuck, done, edited))
        for stage in (plain, stuck, done, edited):
            stage.wait_told()
        self.check_writes(plain)
        self.check_stuck(stuck)
        self.check_done(done)
        self.check_edited(edited)
        self.check_guarded(guarded)
        self.check_without(without)

    def check_writes(self, stage):
        """From the submission of the claimant until it runs and the other job waits: of both jobs, their nodes and
        workers. Without Events and dry runs, which jobs without a claim have too."""
        stage.wait_moved()
        stage.borrower.wait_reason("FirstInLine")
        names = (stage.firm.name, stage.borrower.name, *stage.nodes)
        writes = [write for write in self.proxy.writes_since(stage.began) if any(name in write for name in names)]
        told = min(self.status_writes(stage.borrower, stage.began))
        runs = max(self.status_writes(stage.firm, stage.began))
        print(f"{len(writes)} writes of a claim, {runs - told:.1f} s from the notice until the other job runs ", end="",
              flush=True)
        self.assertLess(runs - told, LONGEST_MOVE)
        for name, count, more in ((stage.firm.name, CLAIMANT, 2), (stage.borrower.name, BORROWER, 2), ("", ALL, 4)):
            of_job = [write for write in writes if not name or f"/gpujobs/{name}" in write]
            self.assertGreaterEqual(len(of_job), count, of_job)
            self.assertLessEqual(len(of_job), count + more, of_job)

    def status_writes(self, job, begin):
        """When they were sent."""
        return [when for when, method, path in self.proxy.requests
                if method == "PUT" and when > begin and f"/gpujobs/{job.name}/" in path]

    def check_stuck(self, stage):
        """The workers do not end until the claim's time is over, which would take more than a minute."""
        self.assertEqual("Awaiting", stage.firm.lease()["state"])
        late = {"status": {"lease": {"awaitsUntil": "2026-01-01T00:00:00Z"}}}
        self.api.patch("gpujobs", stage.firm.name, late, stage.firm.namespace, "status")
        stage.wait_given_up("VictimStuck")
        stage.lighten()
        stage.wait_moved()

    def check_done(self, stage):
        """All its ranks had ended with code 0 when it was told."""
        for pod in stage.borrower.pods():
            self.kubelet.finish(pod)
        stage.lighten()
        status = stage.borrower.wait_condition("Complete")
        self.assertEqual(("Succeeded", 1, None), (status["phase"], status["attempts"], status.get("history")))
        stage.firm.wait_phase("Running")

    def check_edited(self, stage):
        """It asks for both nodes now."""
        self.assertEqual("Awaiting", stage.firm.lease()["state"])
        stage.firm.patch(gpus=2, rendezvous="None")
        stage.wait_given_up("SpecChanged")
        stage.lighten()
        stage.wait_moved(2)

    def check_guarded(self, stage):
        told = unix_seconds(stage.wait_told()["history"][-1]["at"])
        self.assertGreaterEqual(told - stage.ran_since, GUARD)
        stage.wait_moved()

    def check_without(self, stage):
        """Whatever the priorities are, nobody makes room."""
        wait_for("more time than a claim takes", lambda: time.monotonic() > stage.began + GUARD)
        status = stage.firm.status()
        self.assertEqual(("WaitingForNodes", None), (status["reason"], status.get("lease")))
        self.assertEqual(("Running", None), (stage.borrower.phase(), stage.borrower.status().get("yields")))
