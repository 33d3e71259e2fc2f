# SPDX-License-Identifier: Apache-2.0
"""An operator whose machine has the wrong time. libfaketime moves its wall clock."""

import calendar
import time

from tests.kit.played.case import FakeClusterCase

LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


class WrongClockTest(FakeClusterCase):
    def clean(self):
        self.operator.environment = {}
        if self.operator.running():
            self.operator.stop()
        super().clean()

    def restart_with(self, offset):
        self.operator.stop()
        self.operator.environment = {"LD_PRELOAD": LIBRARY, "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                                     "DONT_FAKE_MONOTONIC": "1"}
        self.operator.start()

    def test_one_that_is_ten_minutes_ahead_ends_nothing_too_early(self):
        running = self.submit("running", gpus=1, activeDeadlineSeconds=300)
        running.wait_phase("Running")
        self.restart_with("+10m")
        fresh = self.submit("fresh", gpus=1, startTimeoutSeconds=300)
        fresh.wait_phase("Running")
        self.assertEqual("Running", running.phase(), running.show())
        self.assert_now(fresh.status()["startTime"])
        for job in (running, fresh):
            self.finish(job)
            job.wait_condition("Complete")
            self.assert_now(job.status()["completionTime"])

    def test_one_that_is_ten_minutes_behind_stamps_the_servers_time(self):
        self.restart_with("-10m")
        job = self.submit("job", gpus=1, ttlSecondsAfterFinished=1)
        job.wait_phase("Running")
        self.assert_now(job.status()["startTime"])
        self.finish(job)
        job.wait_gone()

    def assert_now(self, stamp):
        """By the clock of the API server, which is this machine's."""
        self.assertLess(abs(time.time() - calendar.timegm(time.strptime(stamp, "%Y-%m-%dT%H:%M:%SZ"))), 60, stamp)
