# SPDX-License-Identifier: Apache-2.0
"""The API server and etcd in trouble: what runs goes on, and afterwards everything works. Needs no TEST_KUBECONFIG.

OUTAGE=60 makes an absence last so many seconds (5).
"""

import os
import time

from tests.integration.operator.own_plane_case import OwnPlaneCase
from tests.kit.api import ApiError
from tests.kit.kubectl import apply_definitions, kubectl
from tests.kit.waiting import holds_for, wait_for

OUTAGE = float(os.environ.get("OUTAGE", "5"))


class AwayTest(OwnPlaneCase):
    """pool_spec has nodeLossTimeoutSeconds 2, so an absence is longer than what a node may be away."""

    def run_two(self):
        one, gang = self.submit("one"), self.submit("gang", gpus=2)
        one.wait_phase("Running")
        gang.wait_phase("Running")
        return one, gang

    def check_unharmed(self, one, gang, before):
        begin = time.monotonic()
        self.kubelets_report()
        self.assertEqual(before, self.pods_of(one, gang))
        self.finish(one)
        self.finish(gang, ranks=(0, 1))
        for job in (one, gang):
            status = job.wait_condition("Complete")
            self.assertEqual((1, 0), (status["attempts"], status.get("failures", 0)))
        self.submit("after").wait_phase("Running")
        print(f"{time.monotonic() - begin:.1f} s to the next job's run ", end="", flush=True)

    def test_api_server_is_killed_and_started_again(self):
        jobs = self.run_two()
        before = self.pods_of(*jobs)
        self.server("stop-server", "apiserver")
        with self.kubelets_reporting():
            self.server("start-server", "apiserver")
            self.check_unharmed(*jobs, before)

    def test_api_server_is_gone(self):
        jobs = self.run_two()
        before = self.pods_of(*jobs)
        self.server("stop-server", "apiserver")
        lines = len(self.operator.log().splitlines())
        time.sleep(OUTAGE)
        self.assertLess(len(self.operator.log().splitlines()) - lines, 40, "the log is flooded\n" + self.operator.tail())
        with self.kubelets_reporting():
            self.server("start-server", "apiserver")
            self.check_unharmed(*jobs, before)

    def test_api_server_hangs(self):
        jobs = self.run_two()
        before = self.pods_of(*jobs)
        self.server("pause-server", "apiserver")
        time.sleep(OUTAGE)
        with self.kubelets_reporting():
            self.server("resume-server", "apiserver")
            self.check_unharmed(*jobs, before)

    def test_etcd_is_gone(self):
        jobs = self.run_two()
        before = self.pods_of(*jobs)
        self.server("stop-server", "etcd")
        time.sleep(OUTAGE / 4)
        with self.kubelets_reporting():
            self.server("start-server", "etcd")
            wait_for("the API server to serve", self.serves)
            self.check_unharmed(*jobs, before)

    def serves(self):
        try:
            return self.api.list("gpujobs") is not None
        except (ApiError, OSError):
            return False


class RestoreTest(OwnPlaneCase):
    """etcd goes back to a snapshot: versions go backwards, and what came after it was never there."""

    def test_older_state_is_believed(self):
        gang, other = self.submit("gang", gpus=2), self.submit("other")
        gang.wait_phase("Running")
        other.wait_phase("Running")
        before = self.pods_of(gang, other)
        snapshot = os.path.join(self.folder, "snapshot")
        self.server("save", snapshot)
        # Each in a status of their own now that the snapshot does not know.
        self.finish(other)
        other.wait_condition("Complete")
        late = self.submit("late")
        late.wait_phase("Running")
        self.raise_versions()
        self.server("restore", snapshot)
        self.assertFalse(late.exists())
        begin = time.monotonic()
        self.add_node(self.node_names[0] + "-new")
        new = self.submit("new")
        new.wait_phase("Running")
        print(f"{time.monotonic() - begin:.1f} s to the next job's run ", end="", flush=True)
        self.assertEqual(before, self.pods_of(gang, other), "a worker of before the snapshot was ended")
        self.assertEqual(1, gang.status()["attempts"])
        self.finish(gang, ranks=(0, 1))
        self.assertEqual(1, gang.wait_condition("Complete")["attempts"])
        self.finish(other)
        self.assertEqual(1, other.wait_condition("Complete")["attempts"])
        self.assertIn("has gone back to an older state", self.operator.log())

    def raise_versions(self):
        """Of everything that the operator watches, far above those that the restored server begins with."""
        for number in range(100):
            change = {"metadata": {"annotations": {"test/count": str(number)}}}
            for job in self.api.list("gpujobs"):
                self.api.patch("gpujobs", job["metadata"]["name"], change, self.namespace)
            for kind, name in (("nodes", self.node_names[0]), ("gpupools", self.pool)):
                self.api.patch(kind, name, change)
        for pod in self.api.list("pods", self.namespace):
            self.api.patch("pods", pod["metadata"]["name"], {"metadata": {"annotations": {"test/last": "1"}}},
                           self.namespace)


class DefinitionTest(OwnPlaneCase):
    def drop_definition(self):
        kubectl(self.lab.kubeconfig, "delete", "crd", "gpujobs.gpupool.dev", "--wait=false")

    def definition_is_gone(self):
        return "gpujobs.gpupool.dev" not in kubectl(self.lab.kubeconfig, "get", "crd", "-o", "name")

    def check_it_works_again(self):
        apply_definitions(self.lab.kubeconfig)
        self.submit("after").wait_phase("Running")

    def test_definition_is_deleted_while_jobs_run(self):
        for gpus in (1, 2):
            self.submit(f"job-{gpus}", gpus=gpus).wait_phase("Running")
        self.drop_definition()
        wait_for("the definition to be gone", self.definition_is_gone, detail=self.operator.tail)
        wait_for("nodes to be free", lambda: not self.nodes.traces(), detail=lambda: str(self.nodes.traces()))
        # Pods go after the nodes.
        wait_for("the pods to be gone", lambda: not self.api.list("pods", self.namespace), detail=self.operator.tail)
        self.check_it_works_again()

    def test_jobs_vanish_with_their_definition_while_nobody_looks(self):
        jobs = [self.submit(f"job-{gpus}", gpus=gpus) for gpus in (1, 2)]
        for job in jobs:
            job.wait_phase("Running")
        self.operator.stop()
        for job in jobs:
            self.api.patch("gpujobs", job.name, {"metadata": {"finalizers": None}}, self.namespace)
        self.drop_definition()
        wait_for("the definition to be gone", self.definition_is_gone)
        self.assertTrue(self.nodes.traces())
        self.operator.start(ready=False)
        holds_for("the operator waits for the definition", self.operator.running, 2)
        self.check_it_works_again()
        wait_for("what the vanished jobs left to be gone", lambda: len(self.nodes.traces()) == 3,
                 detail=lambda: str(self.nodes.traces()))
        wait_for("their pods to be gone", lambda: len(self.api.list("pods", self.namespace)) == 1,
                 detail=self.operator.tail)


class FullStorageTest(OwnPlaneCase):
    """Writes fail, reads work."""

    def test_storage_is_full_for_a_while(self):
        running, waiting = self.submit("running"), self.submit("waiting", suspend=True)
        late = self.submit("late")
        running.wait_phase("Running")
        late.wait_phase("Running")
        waiting.wait_phase("Suspended")
        before = self.pods_of(running, late)
        # The node controller may take the nodes for dead meanwhile: their leases are not renewed.
        self.api.patch("gpupools", self.pool, {"spec": {"nodeLossTimeoutSeconds": 60}})
        late.deadline_in(30)  # when the storage is full, also on a busy machine
        self.server("fill")
        self.addCleanup(self.server, "drain")
        with self.assertRaises(ApiError) as caught:
            waiting.patch(suspend=False)
        self.assertIn("space exceeded", caught.exception.message)
        wait_for("the deadline to be written, in vain", self.refusals, detail=self.operator.tail)
        begin, lines = self.refusals(), len(self.operator.log().splitlines())
        time.sleep(5)
        tries, lines = self.refusals() - begin, len(self.operator.log().splitlines()) - lines
        print(f"{tries:.0f} more tries and {lines} lines of log in 5 s ", end="", flush=True)
        self.assertLess(tries, 40)
        self.assertLess(lines, 40)
        self.assertIn("space exceeded", self.operator.log())
        self.assertEqual(before, self.pods_of(running, late), "a worker was ended whose outcome is not written")
        self.server("drain")
        self.kubelets_report()
        self.assertEqual("DeadlineExceeded", late.wait_condition("Failed")["reason"])
        waiting.patch(suspend=False)
        waiting.wait_phase("Running")
        self.finish(running)
        self.assertEqual(1, running.wait_condition("Complete")["attempts"])

    def refusals(self):
        return sum(float(line.rsplit(" ", 1)[1]) for line in self.operator.http("/metrics")[1].splitlines()
                   if line.startswith("rest_client_requests_total") and 'code="500"' in line)
