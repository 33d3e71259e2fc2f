# SPDX-License-Identifier: Apache-2.0
"""Two operators with --leader-elect: one works, the other follows it."""

import datetime
import json
import os
import signal
import tempfile
import time

from tests.integration.operator.api_proxy import ApiProxy
from tests.kit import deploy
from tests.kit.operator_process import SHORT_TERMS, OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for


def parse_micro(stamp):
    return datetime.datetime.strptime(stamp, "%Y-%m-%dT%H:%M:%S.%fZ")


class LeaderCase(FakeClusterCase):
    """Instead of the operator of other tests two are started here, each behind a proxy of its own."""

    times = ()

    def setUp(self):
        super().setUp()
        self.operator.stop()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.proxies, self.pair = {}, []

    def clean(self):
        for process in self.pair:
            if process.running():
                os.kill(process.pid, signal.SIGCONT)
                process.kill()
        for proxy in self.proxies.values():
            proxy.close()
        super().clean()

    def candidate(self, name, ready=True):
        proxy = self.proxies[name] = ApiProxy(self.api, self.folder.name, name)
        process = OperatorProcess(operator_binary(), proxy.kubeconfig, f"{self.operator.log_path}.{name}",
                                  ["--leader-elect", "--leader-elect-namespace", self.namespace, *self.times])
        self.pair.append(process)
        process.start(ready)
        process.proxy = proxy
        return process

    def start_pair(self):
        """(leader, standby)"""
        first = self.candidate(f"op{len(self.pair)}")
        first.wait_leads()
        return first, self.candidate(f"op{len(self.pair)}")

    def timed_start(self, name):
        """Starts a job and ends it. What this machine adds to any promise at present, in seconds: several times what it took."""
        begin, job = time.monotonic(), self.submit(name)
        job.wait_phase("Running")
        took = time.monotonic() - begin
        job.delete()
        job.wait_gone()
        return 5 * took

    def lease_spec(self):
        return self.api.get("leases", "gpupool-operator", self.namespace)["spec"]

    @staticmethod
    def wait_end(process):
        wait_for("the operator to end", lambda: not process.running(), detail=process.tail)
        return process.exit_code()


class TakeoverTest(LeaderCase):
    def test_standby_is_warm_and_silent(self):
        leader, standby = self.start_pair()
        self.assertEqual(200, standby.http("/readyz")[0])
        job = self.submit("one")
        job.wait_phase("Running")
        holds_for("only the first leads", lambda: leader.leads() and not standby.leads(), 3)
        self.assertEqual([], standby.proxy.writes_since(0), "a standby wrote")
        paths = " ".join(path for _, _, path in standby.proxy.requests)
        for kind in ("gpujobs", "gpupools", "nodes", "pods", "statefulsets", "jobs", "services"):
            self.assertIn(f"/{kind}?", paths, "a cache is not warm")

    def test_clean_stop_is_followed_within_three_seconds(self):
        leader, standby = self.start_pair()
        running, usual = self.submit("running"), self.timed_start("usual")
        running.wait_phase("Running")
        begin = time.monotonic()
        code, _ = leader.stop()
        standby.wait_leads()
        after = self.submit("after")
        after.wait_phase("Running")
        took = time.monotonic() - begin
        print(f"{took:.1f} s to the next job's run ", end="", flush=True)
        self.assertEqual(0, code, leader.tail())
        self.assertLess(took, 3 + usual)
        self.finish(running)
        self.assertEqual(1, running.wait_condition("Complete")["attempts"])
        self.assertEqual(1, self.lease_spec()["leaseTransitions"])

    def test_killed_leader_is_followed_within_seventeen_seconds(self):
        leader, standby = self.start_pair()
        running, usual = self.submit("running"), self.timed_start("usual")
        running.wait_phase("Running")
        leader.kill()
        begin, renewed = time.monotonic(), self.lease_spec()["renewTime"]
        waiting = self.submit("waiting")
        waiting.wait_phase("Running")
        took = time.monotonic() - begin
        print(f"{took:.1f} s to the next job's run ", end="", flush=True)
        self.assertLess(took, 17 + usual)
        between = parse_micro(self.lease_spec()["acquireTime"]) - parse_micro(renewed)
        self.assertGreaterEqual(between.total_seconds(), 15, "the lease was taken before it expired")
        self.assertTrue(standby.leads())
        self.assertEqual(("Running", 1), (running.phase(), running.status()["attempts"]))

    def test_short_pause_costs_nothing(self):
        leader, standby = self.start_pair()
        job = self.submit("one")
        os.kill(leader.pid, signal.SIGSTOP)
        time.sleep(3)  # more than the retry period of 2 s, less than the renew deadline of 10 s
        os.kill(leader.pid, signal.SIGCONT)
        job.wait_phase("Running")
        holds_for("it still leads", lambda: leader.leads() and not standby.leads(), 2)

    def test_deleted_lease_is_made_again_by_its_holder(self):
        leader, standby = self.start_pair()
        holder = self.lease_spec()["holderIdentity"]
        self.api.delete("leases", "gpupool-operator", self.namespace)
        wait_for("the lease to be back", lambda: self.api.find("leases", "gpupool-operator", self.namespace))
        holds_for("the same one leads", lambda: self.lease_spec()["holderIdentity"] == holder and leader.leads()
                  and not standby.leads(), 4)

    def test_released_lease_names_nobody(self):
        leader = self.candidate("alone")
        leader.wait_leads()
        holder = self.lease_spec()["holderIdentity"]
        self.assertRegex(holder, r"^gpupool-operator-.+_[0-9a-f]{32}$")
        leader.stop()
        self.assertFalse(self.lease_spec().get("holderIdentity"))


class LostLeaseTest(LeaderCase):
    times = SHORT_TERMS

    def churn(self, round_number, process):
        """Work that is in the middle of its calls when the leader is stopped. Nodes of jobs before are taken again."""
        jobs = [self.submit(f"churn-{round_number}-{i}") for i in range(2 * self.node_count)]
        wait_for("work to begin", lambda: any(j.phase() == "Running" for j in jobs), detail=process.tail)
        for job in jobs:
            job.delete()
        return jobs

    def test_paused_leader_writes_nothing_when_it_goes_on(self):
        leader, standby = self.start_pair()
        for round_number in range(3):
            leader.proxy.delay = 0.1
            jobs = self.churn(round_number, leader)
            self.assertNotEqual([], leader.proxy.changes_since(0), "the proxy sees no changes")
            os.kill(leader.pid, signal.SIGSTOP)
            standby.wait_leads()
            for job in jobs:
                job.wait_gone()
            follower = self.submit(f"follower-{round_number}")
            follower.wait_phase("Running")
            resumed = time.monotonic()
            os.kill(leader.pid, signal.SIGCONT)
            self.assertEqual(1, self.wait_end(leader), leader.tail())
            # Each of its threads may have been stopped in the middle of one write, which the server refuses: what it is about
            # has another version, or is gone.
            self.assertEqual([], leader.proxy.changes_since(resumed), "the paused leader changed something when it went on")
            writes = leader.proxy.writes_since(resumed)
            self.assertEqual(len(set(writes)), len(writes), "the paused leader tried again when it went on")
            self.assertTrue(standby.leads())
            self.assertIn("leadership was lost", leader.log())
            self.finish(follower)
            self.assertEqual(1, follower.wait_condition("Complete")["attempts"])
            leader, standby = standby, self.candidate(f"next{round_number}")

    def test_leader_that_cannot_reach_the_server_ends_and_no_job_does(self):
        leader, standby = self.start_pair()
        job = self.submit("one")
        job.wait_phase("Running")
        leader.proxy.cut()
        self.assertEqual(1, self.wait_end(leader), leader.tail())
        standby.wait_leads()
        self.assertEqual(("Running", 1), (job.phase(), job.status()["attempts"]))
        self.finish(job)
        job.wait_condition("Complete")

    def test_lease_taken_by_somebody_else_ends_the_leader(self):
        leader = self.candidate("alone")
        leader.wait_leads()
        self.api.patch("leases", "gpupool-operator", {"spec": {"holderIdentity": "an editor"}}, self.namespace)
        self.assertEqual(1, self.wait_end(leader), leader.tail())


class DataVersionTest(LeaderCase):
    """A leader leaves in the Lease which version of the data it has written; an older program does not follow it."""

    KEY = "gpupool.dev/data-version"

    def mark(self, version):
        self.api.patch("leases", "gpupool-operator", {"metadata": {"annotations": {self.KEY: version}}}, self.namespace)

    def test_an_older_one_refuses_and_writes_nothing(self):
        newer = self.candidate("newer")
        newer.wait_leads()
        self.assertEqual("2", self.api.get("leases", "gpupool-operator", self.namespace)["metadata"]["annotations"][self.KEY])
        self.assertEqual(0, newer.stop()[0])
        self.mark("3")
        self.submit("waits")
        older = self.candidate("older", ready=False)
        self.assertEqual(1, self.wait_end(older))
        self.assertIn("A newer gpupool-operator has worked here", older.log())
        self.assertEqual([], older.proxy.writes_since(0))
        self.mark(None)
        forgetful = self.candidate("forgetful")
        forgetful.wait_leads()


class ElectionRightsTest(LeaderCase):
    """As an account that may do only what deploy/manifests/install.yaml says, in another namespace."""

    RBAC = "rbac.authorization.k8s.io"
    NAME = {"name": "gpupool-integration-election"}

    def clean(self):
        self.api.delete("clusterrolebindings", self.NAME["name"])
        self.api.delete("clusterroles", self.NAME["name"])
        super().clean()

    def allow(self, manifests, kind, plural, namespace=None):
        rules = next(m["rules"] for m in manifests if m["kind"] == kind)
        path = f"/apis/{self.RBAC}/v1" + (f"/namespaces/{namespace}" if namespace else "")
        self.api.call("POST", f"{path}/{plural}", {"metadata": self.NAME, "rules": rules})
        self.api.call("POST", f"{path}/{kind.lower()}bindings", {
            "metadata": self.NAME, "subjects": [{"kind": "User", "name": "the-operator", "apiGroup": self.RBAC}],
            "roleRef": {"apiGroup": self.RBAC, "kind": kind, "name": self.NAME["name"]}})

    def test_roles_in_deploy_are_enough(self):
        manifests = deploy.objects("operator")
        self.allow(manifests, "ClusterRole", "clusterroles")
        self.allow(manifests, "Role", "roles", self.namespace)
        config = json.loads(json.dumps(self.api.config))
        config["users"][0]["user"]["as"] = "the-operator"
        path = os.path.join(self.folder.name, "limited")
        with open(path, "w", encoding="utf-8") as target:
            json.dump(config, target)
        process = OperatorProcess(operator_binary(), path, self.operator.log_path + ".limited",
                                  ["--leader-elect", "--leader-elect-namespace", self.namespace])
        self.pair.append(process)
        process.start()
        process.wait_leads()
        self.submit("one").wait_phase("Running")
        code, _ = process.stop()
        self.assertEqual(0, code)
        self.assertFalse(self.lease_spec().get("holderIdentity"))
        self.assertNotIn("forbidden", process.log())
