# SPDX-License-Identifier: Apache-2.0
"""A pool with a price, a ledger, and the operator as it runs beside one.

With LEDGER_POSTGRES=1 in the environment its books are in PostgreSQL and not in a file.
"""

import glob
import os
import shutil
import sqlite3
import tempfile

from tests.integration.operator.price_case import PriceCase
from tests.kit.ledger_process import LedgerProcess
from tests.kit.names import OWNER_LABEL
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.postgres import PostgresServer
from tests.kit.waiting import wait_for

KINDS = ("gpuaccounts", "gpubillrecords", "gpuledgers")


class LedgerCase(PriceCase):
    readers_host = ""  # an address on which the ledger serves readers

    def setUp(self):
        super().setUp()
        folder = tempfile.mkdtemp(prefix="gpupool-ledger-")
        self.addCleanup(shutil.rmtree, folder)
        self.addCleanup(self.remove_all)
        self.lab.operator.stop()
        self.beside = OperatorProcess(operator_binary(), self.lab.kubeconfig, self.lab.operator.log_path, ["--ledger"])
        self.beside.start()
        self.addCleanup(self.beside.kill)
        self.ledger = LedgerProcess(self.lab.kubeconfig, folder, host=self.readers_host)
        self.postgres = None
        if os.environ.get("LEDGER_POSTGRES"):
            self.postgres = self.enterContext(PostgresServer())
            self.ledger.database = self.postgres.database
        self.addCleanup(self.ledger.kill)
        for name in self.node_names:
            self.api.patch("nodes", name, {"metadata": {"labels": {OWNER_LABEL: "alice"}}})

    @property
    def operator(self):
        """The one that works now."""
        return self.beside if getattr(self, "beside", None) and self.beside.running() else self.lab.operator

    def remove_all(self):
        """Of what is only made beside a ledger. The books of the next test are others."""
        for kind in KINDS:
            for one in self.api.list(kind):
                self.api.delete(kind, one["metadata"]["name"])

    def forge(self, *statements):
        """Changes what is stored, as nobody may."""
        if self.postgres:
            for statement in statements:
                self.postgres.run(statement)
            return
        with sqlite3.connect(self.ledger.database) as database:
            database.executescript(";".join(statements))
        database.close()

    def lose_books(self):
        """All of them. Nothing has them open."""
        if self.postgres:
            self.postgres.run("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        for path in glob.glob(f"{self.ledger.database}*"):
            os.remove(path)

    def lines(self):
        """Of this test's jobs."""
        return self.ledger.statement("bill", "--namespace", self.namespace)["lines"]

    def wait_lines(self, count):
        wait_for(f"{count} entries", lambda: len(self.lines()) >= count, detail=lambda: f"{self.lines()} {self.ledger.log()}")
        self.assertEqual(count, len(self.lines()))

    def published(self):
        found = self.api.find("gpuledgers", "gpupool") or {}
        return found.get("status") or {"head": {"seq": 0}}
