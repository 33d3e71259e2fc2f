# SPDX-License-Identifier: Apache-2.0
"""The base of all tests of the operator."""

import itertools
import unittest
from typing import Any

from tests.kit.api import Api, Object
from tests.kit.jobs import JobHandle
from tests.kit.lab import Lab
from tests.kit.leaks import wait_no_leaks
from tests.kit.manifests import job_manifest
from tests.kit.names import LEASE
from tests.kit.operator_process import OperatorProcess
from tests.kit.waiting import wait_for

_numbers = itertools.count(1)


class OperatorCase(unittest.TestCase):
    """Each test has a namespace of its own, and ends only when nothing of its jobs is left."""

    lab: Lab  # set by the program that runs the tests
    pool = ""

    @property
    def api(self) -> Api:
        return self.lab.api

    @property
    def operator(self) -> OperatorProcess:
        return self.lab.operator

    def setUp(self) -> None:
        self.namespace = self.lab.new_namespace(next(_numbers))
        self.addCleanup(self.clean)
        self._log_begin = self.operator.log_size()
        if not self.operator.running():
            self.operator.start()

    def clean(self) -> None:
        """Sweeps and jobs, then namespaces, then proof. Runs after the test's own clean-ups."""
        died, tail = self.operator.died(), self.operator.tail()
        if not self.operator.running():
            self.operator.start()
        for kind in ("gpusweeps", "gpujobs"):  # sweeps first, or they would begin more trials
            for one in self.api.list(kind):
                self.api.delete(kind, one["metadata"]["name"], one["metadata"]["namespace"])
        wait_for("all jobs to be gone", lambda: not self.api.list("gpujobs"), 120, self.leftovers)
        self.api.delete("namespaces", self.namespace)
        wait_no_leaks(self.api)
        self.assertFalse(died or self.operator.died(), "no test ended the operator, and yet it has ended\n" + tail)
        self.assertEqual([], self.operator.endless_reconciles(self._log_begin)[:3])

    def leftovers(self) -> str:
        return "\n".join(JobHandle(self.api, j["metadata"]["name"], j["metadata"]["namespace"]).show()
                         for j in self.api.list("gpujobs")) + "\n" + self.operator.tail()

    def submit(self, name: str, script: str = "sleep 3600", **options: Any) -> JobHandle:
        options.setdefault("pool", self.pool)
        manifest = job_manifest(name, options.pop("namespace", self.namespace), options.pop("pool"), script, **options)
        return self.submit_manifest(manifest)

    def submit_manifest(self, manifest: Object) -> JobHandle:
        self.api.create("gpujobs", manifest)
        return JobHandle(self.api, manifest["metadata"]["name"], manifest["metadata"]["namespace"])

    def restart_operator(self) -> None:
        self.operator.kill()
        self.operator.start()

    def assert_free(self, *names: str) -> None:
        """The nodes carry nothing of a lease now."""
        for name in names:
            self.assertNotIn(LEASE, str(self.api.get("nodes", name)), name)
