# SPDX-License-Identifier: Apache-2.0
"""Jobs make room for others (spec.queue.yield)."""

from tests.integration.operator.test_turns import TurnCase
from tests.kit.waiting import holds_for, wait_for

CHECKPOINT = {"path": "/checkpoints", "graceSeconds": 5}


class ClaimsTest(TurnCase):
    def setUp(self):
        super().setUp()
        self.change_queue(tenants=[{"name": "owner", "namespaces": [self.other], "guaranteed": 1}],
                          **{"yield": {"minRunSeconds": 1}})

    def borrow(self, name="borrower", gpus=2, **spec):
        job = self.submit(name, gpus=gpus, **{"checkpoint": CHECKPOINT, "rendezvous": "None", **spec})
        job.wait_phase("Running")
        return job

    def darken(self):
        """No worker ends until lighten(): a claim may be over before it is seen."""
        self.kubelet.dead.update(self.node_names)

    def lighten(self):
        self.kubelet.dead.clear()

    def wait_awaiting(self, job, *victims):
        status = job.wait("a claim", lambda s: (s.get("lease") or {}).get("state") == "Awaiting" and s)
        self.assertEqual(("Queued", "WaitingForYield"), (status["phase"], status["reason"]))
        self.assertEqual([victim.read()["metadata"]["uid"] for victim in victims], status["lease"]["awaits"])
        for victim in victims:
            self.assertIn(f"{victim.namespace}/{victim.name}", status["message"])
        return status

    def wait_yielded(self, job, yields=1):
        status = job.wait("to have made room", lambda s: s.get("yields") == yields and not s.get("lease") and s)
        self.assertEqual(("Queued", 0), (status["phase"], status.get("failures", 0)))
        self.assertEqual("Yielded", status["history"][-1]["cause"])

    def test_a_guarantee_gets_its_nodes_back(self):
        borrower = self.borrow()
        self.darken()
        firm = self.submit("firm", namespace=self.other)
        self.wait_awaiting(firm, borrower)
        self.restart_operator()
        self.lighten()
        firm.wait_phase("Running")
        self.wait_yielded(borrower)
        self.wait_held(owner="1")
        self.assertEqual("owner", firm.lease()["tenant"])
        self.finish(firm)
        borrower.wait_phase("Running")
        self.assertEqual(2, borrower.status()["attempts"])
        self.finish(borrower, ranks=range(2))
        borrower.wait_condition("Complete")

    def test_a_higher_priority_of_the_same_tenant(self):
        low, fixed = self.borrow("low", 1), self.borrow("fixed", 1, preemptible=False)
        self.darken()
        high = self.submit("high", priority=5)
        self.wait_awaiting(high, low)
        self.lighten()
        high.wait_phase("Running")
        self.wait_yielded(low)
        higher = self.submit("higher", gpus=2, priority=9)
        higher.wait("to wait", lambda s: s.get("reason") in ("FirstInLine", "WaitingForTurn"))
        holds_for("nobody makes room", lambda: higher.status().get("lease") is None, 11)
        self.assertEqual("Running", fixed.phase())

    def test_a_claim_ends_with_the_job_that_made_it(self):
        borrower = self.borrow()
        self.darken()
        firm = self.submit("firm", namespace=self.other)
        self.wait_awaiting(firm, borrower)
        borrower.wait("to be told", lambda s: s.get("yields") == 1)
        self.restart_operator()
        firm.patch(suspend=True)
        firm.wait_phase("Suspended")
        self.assertFalse(firm.status().get("lease"))
        self.lighten()
        borrower.wait("to run again", lambda s: s.get("attempts") == 2 and s["phase"] == "Running")
        self.darken()
        firm.patch(suspend=False)
        self.wait_awaiting(firm, borrower)
        firm.delete()
        firm.wait_gone()
        self.lighten()
        wait_for("nobody holds a claim", lambda: "owner" not in self.tenants() or self.tenants()["owner"]["held"] == "0")
