# SPDX-License-Identifier: Apache-2.0
"""An operator whose machine has the wrong time. libfaketime moves its wall clock."""

import time

from tests.integration.operator.price_case import PriceCase, seconds_of
from tests.kit.played.case import FakeClusterCase
from tests.kit.times import unix_seconds

LIBRARY = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


class WrongClockCase(FakeClusterCase):
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

    def assert_now(self, stamp):
        """By the clock of the API server, which is this machine's."""
        self.assertLess(abs(time.time() - unix_seconds(stamp)), 60, stamp)


class WrongClockTest(WrongClockCase):
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


class WrongClockBillTest(WrongClockCase, PriceCase):
    def test_seconds_are_billed_by_the_servers_clock(self):
        """Also if the clock jumps by two hours while a job holds its node."""
        for name, first, then in (("forth", "-1h", "+1h"), ("back", "+1h", "-1h")):
            self.restart_with(first)
            begin = time.time()
            job = self.submit(name, gpus=1)
            self.wait_billed(job, 2)
            self.restart_with(then)
            self.wait_billed(job, 4)
            self.finish(job)
            (segment,) = job.wait_phase("Succeeded")["bill"]["segments"]
            self.assert_now(segment["from"])
            self.assert_now(segment["to"])
            self.assertTrue(4 <= seconds_of(segment) <= time.time() - begin + 1, segment)
