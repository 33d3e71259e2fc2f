# SPDX-License-Identifier: Apache-2.0
"""Pools with spec.price: what jobs are billed, and jobs that pay only so much."""

import datetime
import time
from fractions import Fraction

from tests.integration.operator.price_case import PriceCase, seconds_of
from tests.kit.names import OWNER_LABEL
from tests.kit.times import unix_seconds


class BillTest(PriceCase):
    def test_each_owner_of_nodes_has_a_segment(self):
        self.api.patch("nodes", self.node_names[0], {"metadata": {"labels": {OWNER_LABEL: "alice"}}})
        job = self.submit("gang", gpus=2)
        job.wait_phase("Running")
        began = time.time()
        self.wait_billed(job, 3)
        self.finish(job, ranks=(0, 1))
        bill = job.wait_phase("Succeeded")["bill"]
        held = time.time() - began
        self.assertNotIn("open", bill)
        self.assertEqual([(["alice", None][i], [name]) for i, name in enumerate(self.node_names)],
                         [(s.get("owner"), s["nodes"]) for s in bill["segments"]])
        for segment in bill["segments"]:
            self.assertEqual((self.pool, "EUR", "1.200000", 10, 1),
                             tuple(segment[field] for field in ("pool", "currency", "perGpuHour", "fee", "gpus")))
            self.assertGreaterEqual(seconds_of(segment), 3)
            self.assertLessEqual(seconds_of(segment), held + 2)
        exact = sum(Fraction(s["perGpuHour"]) * seconds_of(s) / 3600 for s in bill["segments"])
        self.assertTrue(0 <= exact - Fraction(bill["cost"]) < Fraction(1, 10 ** 6), (bill, float(exact)))
        self.assertEqual(sum(map(seconds_of, bill["segments"])), bill["gpuSeconds"])

    def test_a_running_job_keeps_its_price_and_the_next_lease_has_the_new_one(self):
        job = self.submit("job")
        job.wait_phase("Running")
        self.set_price(perGpuHour="9")
        self.wait_billed(job, 2)
        self.api.patch("gpujobs", job.name, {"spec": {"suspend": True}}, job.namespace)
        job.wait_phase("Suspended")
        self.api.patch("gpujobs", job.name, {"spec": {"suspend": False}}, job.namespace)
        job.wait_phase("Running")
        bill = job.status()["bill"]
        self.assertEqual(["1.200000"], [segment["perGpuHour"] for segment in bill["segments"]])
        self.assertEqual(["9.000000"], [part["perGpuHour"] for part in bill["open"]])

    def test_without_a_price_there_is_no_bill(self):
        self.api.patch("gpupools", self.pool, {"spec": {"price": None}})
        job = self.submit("job")
        job.wait_phase("Running")
        self.finish(job)
        self.assertNotIn("bill", job.wait_phase("Succeeded"))


class MaxPriceTest(PriceCase):
    def test_a_job_waits_for_a_price_that_it_pays_and_holds_up_nobody(self):
        cheap = self.submit("cheap", maxPricePerGpuHour="1.00")
        message = cheap.wait_reason("PriceTooHigh")["message"]
        self.assertEqual(f"no node of pool {self.pool} costs at most 1.00 EUR per GPU-hour (spec.maxPricePerGpuHour)", message)
        for name in ("rich", "any"):
            self.submit(name, **({"maxPricePerGpuHour": "1.20"} if name == "rich" else {})).wait_phase("Running")
        self.assertEqual("PriceTooHigh", cheap.reason())
        for name in ("rich", "any"):
            self.api.delete("gpujobs", name, self.namespace)
        self.set_price(perGpuHour="1.00")
        cheap.wait_phase("Running")
        self.assertEqual("1.000000", cheap.status()["bill"]["open"][0]["perGpuHour"])

    def test_it_takes_the_nodes_of_a_model_that_it_pays(self):
        self.api.patch("nodes", self.node_names[0], {"metadata": {"labels": {"gpupool.dev/gpu-model": "M"}}})
        self.set_price(models=[{"model": "M", "perGpuHour": "3.10"}])
        job = self.submit("job", maxPricePerGpuHour="2")
        job.wait_phase("Running")
        self.assertEqual([self.node_names[1]], job.nodes())
        self.submit("rich").wait_phase("Running")
        self.submit("second", maxPricePerGpuHour="2").wait_reason("WaitingForNodes")

    def test_it_starts_when_the_schedule_lowers_the_price(self):
        begin = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=4)
        begins = begin.strftime("%Y-%m-%dT%H:%M:%SZ")
        self.set_price(schedule=[{"from": begins, "perGpuHour": "0.50"}])
        job = self.submit("job", maxPricePerGpuHour="0.50")
        job.wait_reason("PriceTooHigh")
        job.wait_phase("Running")
        part = job.status()["bill"]["open"][0]
        self.assertEqual("0.500000", part["perGpuHour"])
        self.assertGreaterEqual(unix_seconds(part["from"]), unix_seconds(begins))
