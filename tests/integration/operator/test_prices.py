# SPDX-License-Identifier: Apache-2.0
"""Pools with spec.price: what jobs are billed, and jobs that pay only so much."""

import datetime
import time
from fractions import Fraction

from tests.integration.operator.price_case import PriceCase, seconds_of
from tests.kit.names import OWNER_LABEL
from tests.kit.times import unix_seconds
from tests.kit.waiting import wait_for


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


class DemandPriceTest(PriceCase):
    pool_spec = {"price": {"currency": "EUR", "perGpuHour": "1.20", "demand": {"floor": "0.50", "ceiling": "3", "cost": "0.10"}}}

    def price(self):
        return self.pool_status().get("price")

    def wait_price(self, amount):
        wait_for(f"the price {amount}", lambda: (self.price() or {}).get("perGpuHour") == amount, detail=self.price)

    def let_pass(self, amount):
        """The price is this one, and was decided 16 minutes ago."""
        then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=16)
        wait_for("a first price", self.price)
        self.api.patch("gpupools", self.pool, {"status": {"price": {
            "perGpuHour": amount, "decidedAt": then.strftime("%Y-%m-%dT%H:%M:%SZ")}}}, sub="status")

    def test_it_falls_to_what_a_waiting_job_pays_and_a_running_one_keeps_its_own(self):
        rich = self.submit("rich", maxPricePerGpuHour="2")
        rich.wait_phase("Running")
        cheap = self.submit("cheap", maxPricePerGpuHour="1.10")
        cheap.wait_reason("PriceTooHigh")
        self.wait_price("1.200000")
        self.let_pass("1.210000")
        cheap.wait_phase("Running")
        price = self.price()
        # Two hours at 1.10 earn more than one at 2.
        self.assertEqual(("1.100000", "1.100000", 2), (price["perGpuHour"], price["best"], price["bids"]))
        self.assertEqual(["1.100000"], [part["perGpuHour"] for part in cheap.status()["bill"]["open"]])
        self.assertEqual(["1.200000"], [part["perGpuHour"] for part in rich.status()["bill"]["open"]])

    def test_it_rises_by_one_step_and_the_next_job_pays_it(self):
        self.submit("rich", maxPricePerGpuHour="2").wait_phase("Running")
        self.let_pass("1.300000")
        self.wait_price("1.430000")
        self.submit("next").wait_phase("Running")
        self.submit("late", maxPricePerGpuHour="1.42").wait_reason("PriceTooHigh")
        self.assertEqual("1.430000", self.api.get("gpujobs", "next", self.namespace)["status"]["bill"]["open"][0]["perGpuHour"])

    def test_another_operator_goes_on_with_the_price(self):
        self.submit("rich", maxPricePerGpuHour="2").wait_phase("Running")
        self.let_pass("1.300000")
        self.wait_price("1.430000")
        decided = self.price()
        self.restart_operator()
        job = self.submit("job")
        job.wait_phase("Running")
        self.assertEqual("1.430000", job.status()["bill"]["open"][0]["perGpuHour"])
        self.wait_pool(nodes={"leased": 2})
        self.assertEqual(decided, self.price())

    def test_new_bounds_hold_at_once_and_without_demand_nothing_is_left(self):
        self.wait_price("1.200000")
        self.let_pass("2.000000")
        wait_for("a step down", lambda: self.price()["perGpuHour"] == "1.800000", detail=self.price)
        self.set_price(demand={"ceiling": "1.50"})
        self.wait_price("1.500000")
        self.set_price(demand=None)
        wait_for("no price in the status", lambda: self.price() is None, detail=self.price)
        job = self.submit("job")
        job.wait_phase("Running")
        self.assertEqual("1.200000", job.status()["bill"]["open"][0]["perGpuHour"])

    def test_a_pool_says_what_is_wrong(self):
        self.set_price(models=[{"model": "M", "perGpuHour": "2"}])
        message = wait_for("the pool to stall", lambda: next((
            c["message"] for c in self.pool_status()["conditions"] if c["type"] == "Stalled" and c["status"] == "True"), None))
        self.assertIn("spec.price.demand: a price that follows demand is one price for all GPUs", message)
        self.submit("job").wait_reason("PoolStalled")
