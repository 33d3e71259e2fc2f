# SPDX-License-Identifier: Apache-2.0
"""Pools with spec.queue: tenants take turns."""

from tests.kit.played.case import FakeClusterCase
from tests.kit.times import unix_seconds
from tests.kit.waiting import holds_for, wait_for


class TurnCase(FakeClusterCase):
    node_count = 2
    pool_spec = {"queue": {}}

    def setUp(self):
        super().setUp()
        self.other = self.namespace + "-b"
        self.lab.make_namespace(self.other)
        self.addCleanup(self.api.delete, "namespaces", self.other)

    def change_queue(self, **queue):
        pool = self.api.patch("gpupools", self.pool, {"spec": {"queue": queue}})
        wait_for("the operator to see the change of the pool", lambda: self.pool_status().get(
            "observedGeneration") == pool["metadata"]["generation"])

    def tenants(self):
        return {each["name"]: each for each in self.pool_status().get("queue", {}).get("tenants", [])}

    def wait_held(self, **held):
        """By tenant, as quantities."""
        wait_for(f"the pool to tell that {held}", lambda: all(
            self.tenants().get(name, {}).get("held", "0") == amount for name, amount in held.items()),
                 detail=lambda: str(self.pool_status()))


class SharesTest(TurnCase):
    def test_a_flood_does_not_shut_out_another_tenant(self):
        flood = []
        for reason in ("WorkersRunning", "WorkersRunning", "FirstInLine", *["WaitingForTurn"] * 3):
            flood.append(self.submit(f"flood-{len(flood)}"))
            flood[-1].wait_reason(reason)
        one = self.submit("one", namespace=self.other)
        one.wait_reason("WaitingForTurn")
        self.assertEqual({"tenant": self.other}, one.status()["queue"])
        self.wait_held(**{self.namespace: "2", self.other: "0"})
        self.finish(flood[0])
        flood[2].wait_phase("Running")  # it was first in line before
        self.finish(flood[1])
        one.wait_phase("Running")
        self.assertEqual(self.other, one.lease()["tenant"])
        self.assertNotIn("queue", one.status())
        self.wait_held(**{self.namespace: "1", self.other: "1"})
        self.assertEqual(3, self.tenants()[self.namespace]["queued"])

    def test_limits_and_namespaces_that_are_refused(self):
        self.change_queue(tenants=[{"name": "few", "namespaces": [self.namespace], "limit": 1}], others={"mode": "Refused"})
        runs, waits = self.submit("runs"), self.submit("waits")
        runs.wait_phase("Running")
        status = waits.wait_reason("LimitReached")
        self.assertIn("tenant few may hold 1 GPUs", status["message"])
        stranger = self.submit("stranger", namespace=self.other)
        self.assertIn("not for namespace " + self.other, stranger.wait_reason("TenantRefused")["message"])
        holds_for("they wait", lambda: (waits.phase(), stranger.phase()) == ("Queued", "Queued"), 1)
        self.finish(runs)
        waits.wait_phase("Running")
        self.change_queue(tenants=None, others=None)
        stranger.wait_phase("Running")

    def test_a_guarantee_comes_first(self):
        self.change_queue(tenants=[{"name": "owner", "namespaces": [self.other], "guaranteed": 1}])
        guests = []
        for reason in ("WorkersRunning", "WorkersRunning", "FirstInLine"):
            guests.append(self.submit(f"guest-{len(guests)}"))
            guests[-1].wait_reason(reason)
        owned = self.submit("owned", namespace=self.other)
        owned.wait_reason("WaitingForTurn")
        self.finish(guests[0])
        owned.wait_phase("Running")
        self.assertEqual("Queued", guests[2].phase())


class FirstInLineTest(TurnCase):
    def test_nodes_are_kept_for_it_by_a_time(self):
        half = self.submit("half", activeDeadlineSeconds=3600)
        half.wait_phase("Running")
        gang = self.submit("gang", gpus=2, namespace=self.other)
        status = gang.wait_reason("FirstInLine")
        latest = unix_seconds(status["queue"]["latestStart"])
        self.assertIn("at the latest", status["message"])
        self.assertGreater(latest, unix_seconds(half.status()["startTime"]) + 3600)
        for name, deadline in (("unbounded", {}), ("long", {"activeDeadlineSeconds": 3600})):
            self.submit(name, **deadline).wait_reason("WaitingForTurn")
        wait_for("the pool to tell who is first", lambda: self.pool_status()["queue"].get("holder", {}).get("job") ==
                 f"{self.other}/gang", detail=lambda: str(self.pool_status()))
        short = self.submit("short", activeDeadlineSeconds=600)
        short.wait_phase("Running")
        self.restart_operator()
        self.finish(short)
        holds_for("the node is kept", lambda: gang.status()["reason"] == "FirstInLine" and len(gang.pods()) == 0, 2)
        self.assertEqual(status["queue"]["reservedSince"], gang.status()["queue"]["reservedSince"])
        self.finish(half)
        gang.wait_phase("Running")

    def test_use_outlives_the_operator(self):
        busy = self.submit("busy", gpus=2)
        busy.wait_phase("Running")
        self.wait_held(**{self.namespace: "2"})
        self.finish(busy, ranks=range(2))
        busy.wait_condition("Complete")
        self.wait_held(**{self.namespace: "0"})
        used = int(self.tenants()[self.namespace]["usage"])
        self.assertGreater(used, 0)
        self.restart_operator()
        self.submit("next", namespace=self.other).wait_phase("Running")
        self.wait_held(**{self.other: "1"})
        after = int(self.tenants()[self.namespace]["usage"])
        self.assertTrue(0.99 * used <= after <= used, (used, after))


class SharingTest(TurnCase):
    pool_spec = {"queue": {}, "sharing": {"unit": "GPU"}}
    node_count = 0

    def test_gpus_of_shared_nodes(self):
        self.nodes.add(f"{self.pool}-shared", self.label, 2)
        flood = []
        for reason in ("WorkersRunning", "WorkersRunning", "FirstInLine", "WaitingForTurn"):
            flood.append(self.submit(f"flood-{len(flood)}"))
            flood[-1].wait_reason(reason)
        one = self.submit("one", namespace=self.other)
        one.wait_reason("WaitingForTurn")
        self.wait_held(**{self.namespace: "2"})
        self.finish(flood[0])
        flood[2].wait_phase("Running")
        self.finish(flood[1])
        one.wait_phase("Running")
        self.assertEqual("Queued", flood[3].phase())


class NoQueueTest(FakeClusterCase):
    node_count = 1

    def test_a_pool_without_it_has_none_of_it(self):
        runs, waits = self.submit("runs"), self.submit("waits")
        runs.wait_phase("Running")
        waits.wait_reason("WaitingForNodes")
        self.assertNotIn("queue", waits.status())
        self.assertNotIn("tenant", runs.lease())
        self.assertNotIn("queue", self.pool_status())
