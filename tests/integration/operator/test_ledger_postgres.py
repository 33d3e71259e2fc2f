# SPDX-License-Identifier: Apache-2.0
"""gpupool-ledger with a real PostgreSQL in place of a file."""

from tests.integration.operator.ledger_case import LedgerCase
from tests.kit.postgres import PostgresServer
from tests.kit.waiting import wait_for


class LedgerPostgresTest(LedgerCase):
    def test_a_server_that_is_away_delays_and_loses_nothing(self):
        with PostgresServer() as server:
            self.ledger.database = server.database
            self.ledger.start()
            self.ledger.wait_ready()
            costs = {}
            for name in ("before", "while-it-is-away", "after"):
                job = self.submit(name)
                self.wait_billed(job, 1)
                if name == "while-it-is-away":
                    server.stop()
                self.finish(job)
                costs[name] = job.wait_phase("Succeeded")["bill"]["cost"]
                if name == "while-it-is-away":
                    wait_for("the ledger to be behind", lambda: self.ledger.get("/readyz") == (503, "the books cannot be written\n"),
                             detail=self.ledger.log)
                    server.start()
                self.wait_lines(len(costs))
            self.assertEqual(costs, {line["job"]: line["amount"] for line in self.lines()})
            wait_for("the ledger to be ready", lambda: self.ledger.get("/readyz")[0] == 200, detail=self.ledger.log)
            told = self.ledger.run("verify")
            self.assertEqual((0, ""), (told.returncode, told.stderr), told.stdout)
            corrected = self.ledger.run("correct", "--entry", "1", "--to", "0", "--reason", "a test")
            self.assertEqual(0, corrected.returncode, corrected.stderr)
            wait_for("the head to be published", lambda: self.published()["head"]["seq"] == 4, detail=self.ledger.log)
            self.ledger.kill()
