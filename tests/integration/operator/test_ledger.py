# SPDX-License-Identifier: Apache-2.0
"""gpupool-ledger beside the operator: every second that a job held is in the books once, though the ledger is killed."""

import random
import shutil
import sqlite3
import tempfile
import threading
from decimal import Decimal

from tests.integration.operator.price_case import PriceCase, seconds_of
from tests.kit.ledger_process import LedgerProcess
from tests.kit.names import OWNER_LABEL
from tests.kit.times import unix_seconds
from tests.kit.waiting import wait_for

KILLS = 12


class LedgerTest(PriceCase):
    def setUp(self):
        super().setUp()
        folder = tempfile.mkdtemp(prefix="gpupool-ledger-")
        self.addCleanup(shutil.rmtree, folder)
        self.ledger = LedgerProcess(self.lab.kubeconfig, folder)
        self.addCleanup(self.ledger.kill)
        for name in self.node_names:
            self.api.patch("nodes", name, {"metadata": {"labels": {OWNER_LABEL: "alice"}}})

    def lines(self):
        """Of this test's jobs."""
        return self.ledger.statement("bill", "--namespace", self.namespace)["lines"]

    def wait_lines(self, count):
        wait_for(f"{count} entries", lambda: len(self.lines()) >= count, detail=lambda: f"{self.lines()} {self.ledger.log()}")
        self.assertEqual(count, len(self.lines()))

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
        jobs = [self.submit(f"job-{i}") for i in range(4)]
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
        paid = Decimal(self.ledger.statement("payout", "--owner", "alice")["totals"]["EUR"])
        self.assertTrue(total * Decimal("0.9") <= paid < total * Decimal("0.9") + Decimal("0.0001"), (total, paid))
        explained = self.ledger.run("explain", f"{self.namespace}/job-0").stdout
        self.assertIn("1 node x 1 GPU x 1.200000 EUR per GPU-hour", explained)
        self.check_books()

    def check_books(self):
        """They are right, and a forged row is named."""
        done = self.ledger.run("verify")
        self.assertEqual((0, ""), (done.returncode, done.stderr), done.stdout)
        head = done.stdout.splitlines()[-1].split()[1]
        self.ledger.kill()
        with sqlite3.connect(self.ledger.database) as database:
            database.execute("UPDATE posting SET amount = amount + 1 WHERE seq = 2 AND amount > 0")
        database.close()
        done = self.ledger.run("verify")
        self.assertEqual(1, done.returncode)
        self.assertIn("entry 2: its postings are not those that it makes", done.stdout)
        with sqlite3.connect(self.ledger.database) as database:
            database.executescript("DELETE FROM posting WHERE seq >= 2; DELETE FROM hold WHERE seq >= 2; DELETE FROM entry WHERE seq >= 2")
        database.close()
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
