# SPDX-License-Identifier: Apache-2.0
"""The base of tests that bring about what the fixtures show: they compare, or with CAPTURE=1 write."""

import os
from typing import Any, Callable

from tests.health import fixtures
from tests.health.recorder import Recorder
from tests.kit.api import Object
from tests.kit.jobs import JobHandle
from tests.kit.played.case import FakeClusterCase

CAPTURE = os.environ.get("CAPTURE") == "1"


class LiveCase(FakeClusterCase):
    maxDiff = None

    def setUp(self) -> None:
        super().setUp()
        self.recorder = Recorder(self.lab.kubeconfig, self.namespace).start()
        self.addCleanup(self.recorder.close)

    def keep(self, fixture: str, objekt: Object) -> None:
        nodes = {name: f"gpu-{i + 1}" for i, name in enumerate(self.node_names)}
        cut = fixtures.without_volatile(objekt, {**nodes, self.pool: "lab", self.namespace: "team"})
        if CAPTURE:
            fixtures.store(fixture, cut)
        self.assertEqual(fixtures.shape(fixtures.load(fixture)), fixtures.shape(cut), fixture)

    def keep_job(self, fixture: str, job: JobHandle, reason: str) -> None:
        """As it stays for a while."""
        job.wait_reason(reason)
        self.keep(fixture, job.read())

    def keep_moment(self, fixture: str, job: JobHandle, phase: str, reason: str,
                    more: Callable[[Object], Any] = lambda status: True) -> None:
        """As it was for a moment, maybe long ago."""
        self.keep(fixture, self.recorder.first(job.name, f"{phase}, {reason}", lambda status: (
            status.get("phase"), status.get("reason")) == (phase, reason) and more(status)))
