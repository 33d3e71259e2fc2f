# SPDX-License-Identifier: Apache-2.0
"""Nodes that a pool keeps free, and what it tells of nodes that are drained."""

from tests.kit.jobs import JobHandle
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for


class SparesTest(FakeClusterCase):
    def test_a_spare_replaces_a_lost_node_and_is_made_up(self):
        first, second, spare = self.node_names
        self.api.patch("gpupools", self.pool, {"spec": {"spares": {"nodes": 1}}})
        self.wait_pool(nodes={"spare": 1, "available": 2}, gpus={"available": 2})
        large = self.submit("large", gpus=3)
        self.assertIn("besides the 1 spare node that spec.spares", large.wait_reason("TooLarge")["message"])
        gang = self.submit("gang", gpus=2)
        gang.wait_phase("Running")
        self.assertEqual([first, second], gang.nodes())
        other = self.submit("other")
        self.assertIn("spec.spares", other.wait_reason("WaitingForNodes")["message"])
        self.kubelet.dead.add(second)
        self.nodes.set_ready(second, "Unknown")
        gang.wait("a second attempt", lambda s: s.get("attempts") == 2 and s["phase"] == "Running")
        self.assertEqual([first, spare], gang.nodes())
        self.wait_pool(nodes={"spare": 0, "available": 0})
        self.kubelet.dead.clear()
        self.nodes.set_ready(second, "True")
        self.wait_pool(nodes={"spare": 1})
        holds_for("the node that is back is the spare", lambda: other.lease() is None, 1)
        self.finish(gang, ranks=range(2))
        other.wait_phase("Running")
        self.assertEqual([first], other.nodes())


class DrainingTest(FakeClusterCase):
    def wait_draining(self, *expected: dict[str, str]) -> None:
        wait_for(f"status.draining {expected}", lambda: self.pool_status().get("draining", []) == list(expected),
                 detail=lambda: str(self.pool_status()))

    def start_on_all_nodes(self) -> JobHandle:
        job = self.submit("holder", gpus=3)
        job.wait_phase("Running")
        return job

    def test_the_pool_tells_who_is_on_drained_nodes(self):
        first, second, third = self.node_names
        job = self.start_on_all_nodes()
        waits_for = f"{self.namespace}/{job.name}"
        self.nodes.drain(second, "2150-01-01T01:00:00+01:00")
        self.wait_draining({"node": second, "waitsFor": waits_for, "deadline": "2150-01-01T00:00:00Z"})
        self.wait_pool(nodes={"cordoned": 1, "leased": 3})
        self.nodes.drain(first)
        self.nodes.end_drain(second)
        self.wait_draining({"node": first, "waitsFor": waits_for})
        self.nodes.drain(third, "tomorrow")
        problem = '"tomorrow" is not an RFC 3339 time such as 2026-11-24T18:00:00Z; the drain has no deadline'
        self.wait_draining({"node": first, "waitsFor": waits_for},
                           {"node": third, "waitsFor": waits_for, "problem": problem})
        self.finish(job, ranks=range(3))
        job.wait_condition("Complete")
        self.wait_draining({"node": third, "problem": problem})
        later = self.submit("later")
        later.wait_phase("Running")
        self.assertEqual([second], later.nodes(), "the others are drained")
        waits = self.submit("waits")
        waits.wait_reason("WaitingForNodes")
        self.nodes.end_drain(first)
        waits.wait_phase("Running")
        self.assertEqual([first], waits.nodes())
