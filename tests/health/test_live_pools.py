# SPDX-License-Identifier: Apache-2.0
"""Pools in a cluster look as the fixtures show, and jobs whose pool cannot serve them."""

from tests.health.live_case import LiveCase
from tests.kit.api import ApiError
from tests.kit.manifests import pool_manifest
from tests.kit.played.sharing_case import SharingCase
from tests.kit.waiting import wait_for


class PoolCase(LiveCase):
    def keep_pool(self, fixture, reason, name=None):
        name = name or self.pool
        wait_for(f"reason {reason} of pool {name}", lambda: self.pool_ready(name).get("reason") == reason, 20,
                 lambda: str(self.pool_status(name)))
        self.keep(fixture, self.api.get("gpupools", name))


class PoolTest(PoolCase):
    def test_ready(self):
        self.keep_pool("gpupool-ready", "MembersCounted")
        self.api.create("gpupools", pool_manifest(self.pool + "-empty", {"example.org/no": "node"}))
        self.keep_pool("gpupool-without-nodes", "NoMatchingNodes", self.pool + "-empty")
        created = self.api.get("gpupools", self.pool)["metadata"]["creationTimestamp"]
        probe = pool_manifest(self.pool + "-probe", self.label)
        wait_for("the next second: pools are ordered by their creation time", lambda: self.api.create(
            "gpupools", probe, dryRun="All")["metadata"]["creationTimestamp"] > created)
        self.api.create("gpupools", pool_manifest(self.pool + "-younger", self.label))
        self.keep_pool("gpupool-nodes-in-older-pool", "NodesInOlderPool", self.pool + "-younger")

    def test_stalled(self):
        self.api.patch("gpupools", self.pool, {"spec": {"nodeNamePattern": "gpu-[a-z"}})
        self.keep_pool("gpupool-stalled-node-name-pattern", "InvalidNodeNamePattern")
        self.keep_job("gpujob-queued-pool-stalled", self.submit("waits"), "PoolStalled")
        expression = {"key": "example.org/x", "operator": "In", "values": []}
        change = {"nodeNamePattern": None, "nodeSelector": {"matchExpressions": [expression]}}
        try:
            self.api.patch("gpupools", self.pool, {"spec": change})
        except ApiError as error:
            self.assertEqual(422, error.code)  # a CEL rule of newer servers
        else:
            self.keep_pool("gpupool-stalled-node-selector", "InvalidNodeSelector")

    def test_deleted_while_a_job_runs(self):
        self.submit("last").wait_phase("Running")
        waits = self.submit("too-late", gpus=3)
        waits.wait_reason("WaitingForNodes")
        self.api.delete("gpupools", self.pool)
        self.keep_pool("gpupool-deleting", "PoolStopping")
        self.keep_job("gpujob-queued-pool-stopping", waits, "PoolStopping")

    def test_while_no_operator_runs(self):
        self.operator.kill()
        self.api.create("gpupools", pool_manifest(self.pool + "-new", self.label))
        self.keep("gpupool-new", self.api.get("gpupools", self.pool + "-new"))
        self.api.patch("gpupools", self.pool, {"spec": {"nodeLossTimeoutSeconds": 77}})
        self.keep("gpupool-edited-unseen", self.api.get("gpupools", self.pool))
        self.api.delete("gpupools", self.pool)
        self.keep("gpupool-deleting-unseen", self.api.get("gpupools", self.pool))


class SharingPoolTest(SharingCase, PoolCase):
    def test_slices(self):
        self.wait_slices(30, 30)
        self.keep_pool("gpupool-ready-sharing", "MembersCounted")
        self.plugins.refused = 1
        job = self.submit_slices("refused")
        job.wait_phase("Running")
        self.keep("gpujob-placement-refused", self.recorder.first(
            "refused", "another place", lambda status: status.get("reason") == "PlacementRefused"))
