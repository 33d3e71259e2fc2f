"""The base of tests that bring about what the fixtures show: they compare, or with CAPTURE=1 write."""

import os

import fixtures
from operator_case import FakeClusterCase
from recorder import Recorder

CAPTURE = os.environ.get("CAPTURE") == "1"


class LiveCase(FakeClusterCase):
    maxDiff = None

    def setUp(self):
        super().setUp()
        self.recorder = Recorder(self.lab.kubeconfig, self.namespace).start()
        self.addCleanup(self.recorder.close)

    def keep(self, fixture, objekt):
        nodes = {name: f"gpu-{i + 1}" for i, name in enumerate(self.node_names)}
        cut = fixtures.without_volatile(objekt, {**nodes, self.pool: "lab", self.namespace: "team"})
        if CAPTURE:
            fixtures.store(fixture, cut)
        self.assertEqual(fixtures.shape(fixtures.load(fixture)), fixtures.shape(cut), fixture)

    def keep_job(self, fixture, job, reason):
        """As it stays for a while."""
        job.wait_reason(reason)
        self.keep(fixture, job.read())

    def keep_moment(self, fixture, job, phase, reason, more=lambda status: True):
        """As it was for a moment, maybe long ago."""
        self.keep(fixture, self.recorder.first(job.name, f"{phase}, {reason}", lambda status: (
            status.get("phase"), status.get("reason")) == (phase, reason) and more(status)))
