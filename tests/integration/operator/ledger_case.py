# SPDX-License-Identifier: Apache-2.0
"""A pool with a price, a ledger, and the operator as it runs beside one."""

import shutil
import tempfile

from tests.integration.operator.price_case import PriceCase
from tests.kit.ledger_process import LedgerProcess
from tests.kit.names import OWNER_LABEL
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
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

    def lines(self):
        """Of this test's jobs."""
        return self.ledger.statement("bill", "--namespace", self.namespace)["lines"]

    def wait_lines(self, count):
        wait_for(f"{count} entries", lambda: len(self.lines()) >= count, detail=lambda: f"{self.lines()} {self.ledger.log()}")
        self.assertEqual(count, len(self.lines()))

    def published(self):
        found = self.api.find("gpuledgers", "gpupool") or {}
        return found.get("status") or {"head": {"seq": 0}}
