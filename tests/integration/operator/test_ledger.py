# SPDX-License-Identifier: Apache-2.0
"""gpupool-ledger beside the operator: every second that a job held is in the books once, though the ledger is killed."""

import itertools
import os
import random
import subprocess
import threading
from decimal import Decimal

from tests.integration.operator.ledger_case import LedgerCase
from tests.integration.operator.price_case import seconds_of
from tests.kit.ledger_process import LedgerProcess
from tests.kit.names import API_VERSION
from tests.kit.times import unix_seconds
from tests.kit.waiting import wait_for

KILLS = int(os.environ.get("LEDGER_KILLS", "12"))
JOBS = KILLS // 3  # their ends come between the kills


class LedgerTest(LedgerCase):
    def kill_again_and_again(self, stop):
        numbers = random.Random(1)
        for _ in range(KILLS):
            self.ledger.start()
            stop.wait(numbers.uniform(0.01, 0.5))
            self.ledger.kill()

    def test_what_jobs_held_is_in_the_books_once(self):
        stop = threading.Event()
        killer = threading.Thread(target=self.kill_again_and_again, args=(stop,))
        killer.start()
        jobs = [self.submit(f"job-{i}") for i in range(JOBS)]
        bills = {}
        for job in jobs:
            self.wait_billed(job, 1)
            self.finish(job)
            bills[job.name] = job.wait_phase("Succeeded")["bill"]
        killer.join()
        self.ledger.start()
        self.ledger.wait_ready()
        self.wait_lines(sum(len(bill["segments"]) for bill in bills.values()))
        for name, bill in bills.items():
            mine = [line for line in self.lines() if line["job"] == name]
            self.assertEqual([(s["from"], s["to"], s["nodes"], s["cost"]) for s in bill["segments"]],
                             [(s["from"], s["to"], s["nodes"], s["amount"]) for s in mine])
        total = sum(Decimal(bill["cost"]) for bill in bills.values())
        self.assertEqual(total, Decimal(self.ledger.statement("bill", "-n", self.namespace)["totals"]["EUR"]))
        self.assertIn(f"{total} EUR", self.ledger.run("bill", "-n", self.namespace).stdout)
        payout = self.ledger.statement("payout", "--owner", "alice")
        paid = Decimal(payout["totals"]["EUR"])
        self.assertEqual((payout["totals"], []), (payout["owed"], payout["payments"]))
        self.assertTrue(total * Decimal("0.9") <= paid < total * Decimal("0.9") + Decimal("0.0001"), (total, paid))
        self.check_payment(paid)
        explained = self.ledger.run("explain", f"{self.namespace}/job-0").stdout
        self.assertIn("1 node x 1 GPU x 1.200000 EUR per GPU-hour", explained)
        self.check_books()

    def check_payment(self, paid):
        """Once, and taken back, and at last right."""
        def pay(amount, reference):
            return self.ledger.run("pay", "--owner", "alice", "--currency", "EUR", "--amount", str(amount), "--reference", reference)

        self.assertEqual(0, pay(paid, "SEPA 1").returncode)
        again = pay(paid, "SEPA 1")
        self.assertEqual(1, again.returncode)
        self.assertIn('the payment with the reference "SEPA 1" is entry', again.stderr)
        self.assertEqual(0, pay(-paid, "SEPA 1 came back").returncode)
        self.assertEqual(0, pay(paid, "SEPA 2").returncode)
        payout = self.ledger.statement("payout", "--owner", "alice")
        self.assertEqual((["SEPA 1", "SEPA 1 came back", "SEPA 2"], {"EUR": "0.000000"}),
                         ([payment["reference"] for payment in payout["payments"]], payout["owed"]))
        self.assertEqual(2, pay("1,20", "SEPA 3").returncode)

    def check_books(self):
        """They are right, and a forged row is named."""
        done = self.ledger.run("verify")
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        head = done.stdout.splitlines()[-1].split()[1]
        self.ledger.kill()
        self.forge("UPDATE posting SET amount = amount + 1 WHERE seq = 2 AND amount > 0")
        done = self.ledger.run("verify")
        self.assertEqual(1, done.returncode)
        self.assertIn("entry 2: its postings are not those that it makes", done.stdout)
        self.forge("DELETE FROM posting WHERE seq >= 2", "DELETE FROM hold WHERE seq >= 2", "DELETE FROM entry WHERE seq >= 2")
        self.assertEqual(0, self.ledger.run("verify").returncode)
        self.assertIn("later entries were cut off", self.ledger.run("verify", "--head", head).stdout)

    def test_a_job_that_is_deleted_while_it_runs_is_billed(self):
        self.ledger.start()
        self.ledger.wait_ready()
        job = self.submit("job")
        self.wait_billed(job, 3)
        begin = unix_seconds(job.status()["bill"]["open"][0]["from"])
        self.api.delete("gpujobs", job.name, job.namespace)
        job.wait_gone()
        self.wait_lines(1)
        line = self.lines()[0]
        self.assertEqual(begin, unix_seconds(line["from"]))
        self.assertGreaterEqual(seconds_of(line), 3)
        self.assertIn("gpupool_ledger_head", self.ledger.get("/metrics")[1])

    def test_what_is_deleted_while_it_is_away_is_kept(self):
        jobs = [self.submit(f"job-{i}") for i in range(2)]
        bills = {}
        for job in jobs:
            self.wait_billed(job, 1)
            self.finish(job)
            bills[job.name] = job.wait_phase("Succeeded")["bill"]
        self.api.delete("gpujobs", jobs[0].name, self.namespace)
        self.api.delete("namespaces", self.namespace)
        for job in jobs:
            job.wait_gone()
        records = self.api.list("gpubillrecords")
        self.assertEqual({job.name for job in jobs}, {record["spec"]["job"] for record in records})
        for record in records:
            self.assertEqual((self.namespace, bills[record["spec"]["job"]]["segments"]),
                             (record["spec"]["namespace"], record["spec"]["bill"]["segments"]))
        self.ledger.start()
        self.ledger.wait_ready()
        self.wait_lines(2)
        wait_for("the records to be deleted", lambda: not self.api.list("gpubillrecords"), detail=self.ledger.log)
        self.assertEqual({name: bill["cost"] for name, bill in bills.items()},
                         {line["job"]: line["amount"] for line in self.lines()})
        self.ledger.kill()
        self.ledger.start()
        self.ledger.wait_ready()
        self.wait_lines(2)

    def test_an_owner_sees_how_busy_his_machine_was(self):
        """By the counters of its device plugin, of which only what comes after the first look counts."""
        self.ledger.start()
        self.ledger.wait_ready()
        job = self.submit("job")
        self.wait_billed(job, 2)
        (node,) = job.nodes()
        self.api.create("gpunodes", {"apiVersion": API_VERSION, "kind": "GpuNode", "metadata": {"name": node}})
        self.addCleanup(self.api.delete, "gpunodes", node)
        self.finish(job)
        job.wait_phase("Succeeded")
        self.wait_lines(1)
        reports = itertools.count()

        def measured():
            sampled = 4_000_000 + 1000 * next(reports)  # a second more each time
            usage = {"sampledMilliseconds": sampled, "busyMilliseconds": sampled // 4, "since": "2026-11-01T00:00:00Z"}
            gpu = {"uuid": "GPU-1", "index": 0, "model": "M", "memoryMiB": 1, "health": "Healthy", "resourceName": "r",
                   "slices": {"total": 1, "free": 1, "memoryMiB": 1, "cores": 100}, "pods": [], "usage": usage}
            self.api.patch("gpunodes", node, {"status": {"gpus": [gpu]}}, sub="status")
            (machine,) = self.ledger.statement("machines", "--owner", "alice")["machines"]
            return Decimal(machine["measuredGpuHours"]) and machine

        machine = wait_for("the machine to be measured", measured, detail=self.ledger.log)
        self.assertEqual((node, "alice"), (machine["node"], machine["owner"]))
        self.assertLess(Decimal(machine["measuredGpuHours"]), 1, "what was counted before is not known")
        self.assertAlmostEqual(Decimal("0.25"), Decimal(machine["busyGpuHours"]) / Decimal(machine["measuredGpuHours"]), delta=Decimal("0.01"))
        self.assertGreater(Decimal(machine["rentedGpuHours"]), 0)
        self.assertIn("job of alice", self.ledger.run("machines", "--owner", "alice").stdout)

    def test_what_is_entered_costs_no_record(self):
        self.ledger.start()
        self.ledger.wait_ready()
        job = self.submit("job")
        self.wait_billed(job, 1)
        self.finish(job)
        job.wait_phase("Succeeded")
        self.wait_lines(1)
        wait_for("the ledger to say so", lambda: self.published()["head"]["seq"] == 1, detail=self.ledger.log)
        self.api.patch("gpujobs", job.name, {"metadata": {"labels": {"later": "version"}}}, self.namespace)
        self.api.delete("gpujobs", job.name, self.namespace)
        job.wait_gone()
        self.assertEqual(0, self.operator.metric("gpupool_bill_records_total"))

    def test_books_that_were_not_published_are_not_used(self):
        """For example a backup: who published more than it has must not be charged by it."""
        self.ledger.start()
        self.ledger.wait_ready()
        job = self.submit("job")
        self.wait_billed(job, 1)
        self.finish(job)
        job.wait_phase("Succeeded")
        self.wait_lines(1)
        wait_for("its head to be published", lambda: self.published()["head"]["seq"] == 1, detail=self.ledger.log)
        head = self.published()["head"]
        self.assertEqual(0, self.ledger.run("verify", "--head", f"{head['seq']}:{head['hash']}").returncode)
        self.ledger.kill()
        self.lose_books()
        self.ledger.start()
        wait_for("it to refuse", lambda: self.ledger.get("/readyz") == (503, "the books are not those that were published\n"),
                 detail=self.ledger.log)
        self.assertEqual([], self.lines())
        for metric in ("gpupool_ledger_behind 1\n", "gpupool_ledger_diverged 1\n"):
            self.assertIn(metric, self.ledger.get("/metrics")[1])
        done = self.ledger.run("adopt", "--kubeconfig", self.lab.kubeconfig)
        self.assertEqual((0, "adopted the books up to head 0:\n"), (done.returncode, done.stdout), done.stderr)
        self.ledger.wait_ready()
        self.wait_lines(1)


class FullDiskTest(LedgerCase):
    """Of books in a file, whatever LEDGER_POSTGRES says."""

    def test_a_full_disk_delays_and_loses_nothing(self):
        volume = os.path.join(self.ledger.folder, "volume")
        os.mkdir(volume)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", volume], check=True)
        self.addCleanup(subprocess.run, ["umount", volume], check=True)
        self.ledger = LedgerProcess(self.lab.kubeconfig, self.ledger.folder, volume)
        self.addCleanup(self.ledger.kill)
        self.ledger.start()
        self.ledger.wait_ready()
        filler = os.path.join(volume, "filler")
        with open(filler, "wb", buffering=0) as file, self.assertRaisesRegex(OSError, "No space left"):
            while True:
                file.write(bytes(4096))
        job = self.submit("job")
        self.wait_billed(job, 1)
        self.finish(job)
        cost = job.wait_phase("Succeeded")["bill"]["cost"]
        wait_for("the ledger to be behind", lambda: self.ledger.get("/readyz") == (503, "the books cannot be written\n"),
                 detail=self.ledger.log)
        self.assertIn("full", self.ledger.log())
        self.api.delete("gpujobs", job.name, self.namespace)
        job.wait_gone()
        self.assertEqual(1, len(self.api.list("gpubillrecords")))
        os.remove(filler)
        self.wait_lines(1)
        self.assertEqual([cost], [line["amount"] for line in self.lines()])
        wait_for("the record to be deleted", lambda: not self.api.list("gpubillrecords"), detail=self.ledger.log)
        self.assertEqual(200, self.ledger.get("/readyz")[0])
        self.assertEqual(0, self.ledger.run("verify").returncode)
        self.ledger.kill()
