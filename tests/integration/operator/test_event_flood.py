# SPDX-License-Identifier: Apache-2.0
"""A day's worth of watch events in seconds: the operator's memory, descriptors, threads and log stay as they were.

EVENTS=n replays n events instead of 100,000.
"""

import os
import tempfile
import time

from tests.integration.operator.event_amplifier import EventAmplifier
from tests.kit.names import LAUNCHER_IMAGE
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import wait_for

EVENTS = int(os.environ.get("EVENTS") or 100_000)
FACTOR = max(400, EVENTS // 500)  # events that are made of one
MAX_GROWTH_KIB = 12 * 1024
MAX_LOG_LINES = 400


class Usage:
    """Of a process, as the kernel counts."""

    def __init__(self, operator):
        with open(f"/proc/{operator.pid}/status", encoding="ascii") as source:
            fields = dict(line.split(":", 1) for line in source)
        self.rss_kib = int(fields["VmRSS"].split()[0])
        self.threads = int(fields["Threads"])
        self.descriptors = len(os.listdir(f"/proc/{operator.pid}/fd"))
        self.log_lines = operator.log().count("\n")


class EventFloodTest(FakeClusterCase):
    def setUp(self):
        super().setUp()
        self.operator.stop()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.proxy = EventAmplifier(self.api, folder.name, "flood")
        self.addCleanup(self.proxy.close)
        self.flooded = OperatorProcess(operator_binary(), self.proxy.kubeconfig, self.operator.log_path + ".flood",
                                       ["--launcher-image", LAUNCHER_IMAGE])
        self.addCleanup(lambda: self.flooded.running() and self.flooded.kill())
        self.flooded.start()

    def change(self, kind, name, namespace, number):
        self.api.patch(kind, name, {"metadata": {"annotations": {"test/number": str(number)}}}, namespace)

    def replay(self, objects, events):
        """Changes the objects, one event of each at a time, until the operator was sent so many."""
        target, number, end = self.proxy.events + events, 0, time.monotonic() + 60 + events / 1000
        while self.proxy.events < target:
            self.assertLess(time.monotonic(), end, f"{self.proxy.events} events, then no more\n{self.flooded.tail()}")
            for kind, name, namespace in objects:
                before = self.proxy.events
                self.change(kind, name, namespace, number)
                self.proxy.wait_for_events(before + FACTOR // 2, 2)
            number += 1

    def settle(self):
        """Everything that was sent has been worked on: what comes last is acted on."""
        wait_for("empty queues", lambda: self.flooded.metric("workqueue_depth") == 0, detail=self.flooded.tail)

    def test_nothing_grows(self):
        job, gang = self.submit("one"), self.submit("gang", gpus=2)
        job.wait_phase("Running")
        gang.wait_phase("Running")
        objects = [("nodes", name, None) for name in self.node_names]
        objects += [("pods", pod["metadata"]["name"], self.namespace) for pod in job.pods() + gang.pods()]
        objects += [("gpujobs", "one", self.namespace), ("gpujobs", "gang", self.namespace),
                    ("gpupools", self.pool, None)]
        objects += [(kind, found["metadata"]["name"], self.namespace) for kind in ("statefulsets", "services", "jobs")
                    for found in self.api.list(kind, self.namespace)]
        self.proxy.factor = FACTOR
        self.replay(objects, EVENTS // 3)  # until everything has its size
        self.settle()
        before, sent, begin = Usage(self.flooded), self.proxy.events, time.monotonic()
        self.replay(objects, EVENTS - sent)
        self.settle()
        after, took = Usage(self.flooded), time.monotonic() - begin
        print(f"{self.proxy.events} events ({(self.proxy.events - sent) / took:.0f}/s), {self.proxy.names} names, "
              f"{self.proxy.watches} watches, {self.proxy.expired} expired; RSS {before.rss_kib} -> {after.rss_kib} KiB, "
              f"{before.descriptors} -> {after.descriptors} descriptors, {before.threads} -> {after.threads} threads, "
              f"{after.log_lines} log lines ", end="", flush=True)
        self.assertGreaterEqual(self.proxy.events, EVENTS)
        self.assertGreater(self.proxy.expired, 0, "no watch has expired")
        self.assertLess(after.rss_kib - before.rss_kib, MAX_GROWTH_KIB, "memory grows")
        self.assertLessEqual(after.descriptors, before.descriptors + 8, "descriptors are left open")
        self.assertEqual(before.threads, after.threads)
        self.assertLess(after.log_lines, MAX_LOG_LINES, self.flooded.tail())
        self.proxy.factor = 1
        self.assertEqual(("Running", 1), (job.phase(), job.status()["attempts"]))
        for one in (job, gang):
            self.api.delete("gpujobs", one.name, self.namespace)
        last = self.submit("last", gpus=3)
        last.wait_phase("Running")
