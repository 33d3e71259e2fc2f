# SPDX-License-Identifier: Apache-2.0
"""GpuAccounts: what cannot be paid for does not run."""

import json
import time
from decimal import Decimal

from tests.integration.operator.ledger_case import LedgerCase
from tests.integration.operator.price_case import seconds_of
from tests.kit.names import API_VERSION
from tests.kit.operator_process import SHORT_TERMS, OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.times import unix_seconds
from tests.kit.waiting import wait_for

RATE = Decimal("36")  # of one GPU an hour: a hundredth a second
TEN_MINUTES = RATE / 6


class AccountCase(LedgerCase):
    node_count = 3
    pool_spec = {"price": {"currency": "EUR", "perGpuHour": str(RATE)}}

    def setUp(self):
        super().setUp()
        self.account = f"{self.pool}-payer"

    def pay(self, amount, **spec):
        budget = {"amount": str(amount), "period": spec.pop("period", "Total")}
        self.wait_known(self.api.create("gpuaccounts", {
            "apiVersion": API_VERSION, "kind": "GpuAccount", "metadata": {"name": self.account},
            "spec": {"namespaces": [self.namespace], "currency": "EUR", "budget": budget, **spec}}))

    def set_budget(self, amount):
        self.wait_known(self.api.patch("gpuaccounts", self.account, {"spec": {"budget": {"amount": str(amount)}}}))

    def wait_known(self, account):
        """Jobs that are submitted now find the account as it is now: the operator's watches know nothing of each other."""
        newest = {"name": self.account, "generation": account["metadata"]["generation"]}
        wait_for(f"the operator to know {newest}", lambda: any(newest.items() <= json.loads(line).items() for line in
                 self.operator.log().splitlines() if "read the spec of an account" in line), detail=self.operator.tail)

    def show(self):
        return f"{self.api.get('gpuaccounts', self.account)}\n{self.operator.tail()}"

    def spent(self):
        return Decimal((self.api.get("gpuaccounts", self.account).get("status") or {}).get("spent", "0"))

    def version(self):
        return int((self.api.get("gpuaccounts", self.account).get("status") or {}).get("throughVersion", "0"))

    def wait_spent(self, amount):
        wait_for(f"{amount} to be spent", lambda: self.spent() == amount, detail=lambda: self.show() + self.ledger.log())

    def charged(self, job):
        return Decimal(job.status()["bill"]["cost"])


class AdmissionTest(AccountCase):
    def test_a_burst_does_not_start_on_the_money_for_one_job(self):
        self.pay(2 * TEN_MINUTES - 1, warnAt=[50])
        jobs = [self.submit(f"job-{i}") for i in range(3)]
        wait_for("one to run and two to wait", lambda: sorted(j.status().get("reason", "") for j in jobs) ==
                 ["BudgetExhausted", "BudgetExhausted", "WorkersRunning"], detail=self.show)
        waiting = next(j for j in jobs if j.status()["reason"] == "BudgetExhausted")
        self.assertEqual(f"too little is left of the budget of account {self.account} (11.000000 EUR): it must pay for 10 minutes "
                         "of what it holds and of this job, which alone costs 6.000000 EUR", waiting.status()["message"])
        self.assertEqual("Queued", waiting.phase())
        self.wait_pool(nodes={"leased": 1, "available": 2})
        self.set_budget(4 * TEN_MINUTES)
        for job in jobs:
            job.wait_phase("Running")

    def test_who_cannot_pay_holds_up_nobody(self):
        self.pay("0.5")
        poor = self.submit("poor", gpus=3)
        poor.wait_reason("BudgetExhausted")
        other = self.lab.make_namespace(self.namespace + "-free")
        self.addCleanup(self.api.delete, "namespaces", other)
        self.submit("free-of-an-account", namespace=other, gpus=3).wait_phase("Running")
        self.assertEqual("BudgetExhausted", poor.status()["reason"])

    def test_without_the_account_or_its_budget_they_run(self):
        self.pay("0.5")
        job = self.submit("job")
        job.wait_reason("BudgetExhausted")
        self.api.patch("gpuaccounts", self.account, {"spec": {"budget": None}})
        job.wait_phase("Running")
        self.set_budget("0.5")
        second = self.submit("second")
        second.wait_reason("BudgetExhausted")
        self.api.delete("gpuaccounts", self.account)
        second.wait_phase("Running")

    def test_another_currency_is_not_paid_in(self):
        self.pay("100")
        self.set_price(currency="USD")
        job = self.submit("job")
        message = job.wait_reason("WrongCurrency")["message"]
        self.assertEqual(f"pool {self.pool} has prices in USD, and account {self.account} pays in EUR", message)
        self.set_price(currency="EUR")
        self.api.patch("gpuaccounts", self.account, {"spec": {"warnAt": [99]}})
        job.wait_phase("Running")


class ExhaustedTest(AccountCase):
    def exhaust_soon(self, *jobs, seconds=4):
        """The budget becomes what is spent so many seconds from now. Returns it."""
        held = sum(time.time() - begin for begin, gpus in jobs for _ in range(gpus))
        gpus = sum(gpus for _, gpus in jobs)
        amount = (Decimal(int(held)) + seconds * gpus) / 100
        self.set_budget(amount)
        return amount

    def test_a_gang_gives_its_nodes_back_and_goes_on_when_there_is_money_again(self):
        self.pay("100", onExhausted="Suspend", warnAt=[50, 80])
        by_hand = self.submit("by-hand", suspend=True)
        gang = self.submit("gang", gpus=2, rendezvous="None")
        self.wait_billed(gang, 1)
        begin = time.time() - 1
        budget = self.exhaust_soon((begin, 2))
        gang.wait_phase("Suspended", limit=60)
        status = gang.status()
        self.assertEqual(("BudgetExhausted", None), (status["reason"], status.get("lease")))
        self.assertEqual((1, 0), (status["attempts"], status.get("failures", 0)))
        self.assertIn(f"account {self.account} has spent its budget of", status["message"])
        self.assertLess(abs(self.charged(gang) - budget), Decimal("0.06"))  # 3 s of two GPUs
        self.assertGreaterEqual(self.charged(gang), budget - Decimal("0.02"))
        wait_for("an Event of the account", lambda: {"BudgetWarning", "BudgetExhausted"} <= {
            event["reason"] for event in self.api.list("events") if event["regarding"].get("name") == self.account},
            detail=self.show)
        self.ledger.start()
        self.wait_spent(self.charged(gang))
        self.assertEqual("BudgetExhausted", gang.status()["reason"])
        self.set_budget("100")
        gang.wait_phase("Running")
        self.assertEqual("Suspended", by_hand.phase())
        # What is in the books is not counted again, also by an operator that was started later.
        self.beside.kill()
        self.beside.start()
        wait_for("the ledger to have seen it run", lambda: self.version() >= int(self.api.get("gpujobs", gang.name, self.namespace)["metadata"]["resourceVersion"]),
                 detail=self.show)
        held = time.time() - unix_seconds(gang.status()["bill"]["open"][0]["from"])
        budget = self.spent() + (int(held) + Decimal(4)) * 2 / 100
        self.set_budget(budget)
        gang.wait_phase("Suspended", limit=60)
        self.assertLess(abs(self.charged(gang) - budget), Decimal("0.06"))  # the first segment is 0.08 at least
        self.assertEqual("Suspended", by_hand.phase())

    def test_the_next_leader_ends_the_job_in_the_same_second(self):
        """It has followed all along, and knows what was spent before it led."""
        self.beside.kill()
        leader = self.beside = self.candidate("one")
        leader.wait_leads()
        standby = self.candidate("two")
        self.pay("100", onExhausted="Suspend")
        job = self.submit("job", gpus=2, rendezvous="None")
        self.wait_billed(job, 1)
        begin = unix_seconds(job.status()["bill"]["open"][0]["from"])
        leader.kill()
        self.beside = standby
        standby.wait_leads()
        budget = (int(time.time() - begin) + Decimal(4)) * 2 / 100
        self.set_budget(budget)
        job.wait_phase("Suspended", limit=60)
        self.assertEqual("BudgetExhausted", job.status()["reason"])
        self.assertLess(abs(self.charged(job) - budget), Decimal("0.06"), self.show())
        self.assertEqual(1, len(job.status()["bill"]["segments"]))

    def candidate(self, name):
        process = OperatorProcess(operator_binary(), self.lab.kubeconfig, f"{self.lab.operator.log_path}.{name}", [
            "--ledger", "--leader-elect", "--leader-elect-namespace", self.namespace, *SHORT_TERMS])
        self.addCleanup(lambda: process.kill() if process.running() else None)
        return process.start()

    def test_refuse_lets_running_jobs_go_on(self):
        self.pay("100")
        job = self.submit("job")
        self.wait_billed(job, 1)
        self.set_budget("0.000001")
        second = self.submit("second")
        self.assertIn("has spent its budget", second.wait_reason("BudgetExhausted")["message"])
        self.assertEqual("Running", job.phase())
        self.finish(job)
        segment = job.wait_phase("Succeeded")["bill"]["segments"][0]
        self.assertGreaterEqual(seconds_of(segment), 1)
        self.assertEqual("BudgetExhausted", second.status()["reason"])

    def test_what_is_gone_and_not_in_the_books_is_spent_too(self):
        self.pay("100")
        job = self.submit("job")
        self.wait_billed(job, 2)
        self.api.delete("gpujobs", job.name, job.namespace)
        job.wait_gone()
        self.assertEqual(1, len(self.api.list("gpubillrecords")))
        self.set_budget(TEN_MINUTES + Decimal("0.01"))
        second = self.submit("second")
        second.wait_reason("BudgetExhausted")
        self.ledger.start()
        wait_for("the books to have it", lambda: self.spent() > 0 and not self.api.list("gpubillrecords"), detail=self.show)
        self.assertEqual("BudgetExhausted", second.status()["reason"])
        self.set_budget(TEN_MINUTES + self.spent())
        second.wait_phase("Running")
