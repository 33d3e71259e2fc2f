# SPDX-License-Identifier: Apache-2.0
"""The log stays short whatever goes on failing."""

import json
import tempfile
import threading
import time

from tests.integration.operator import api_proxy
from tests.integration.operator.api_proxy import ApiProxy
from tests.kit.names import LAUNCHER_IMAGE
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import wait_for

FAILURE = json.dumps({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "InternalError",
                      "message": "etcdserver: request timed out", "code": 500}).encode()
JOBS = 40
FAILED_WRITES = 400
MESSAGES, BURST, INTERVAL = 4, 20, 3  # of each message a burst of lines, and then one in so many seconds


class _Handler(api_proxy._Handler):  # pylint: disable=protected-access
    """Reads work, writes do not."""

    def handle_any(self):
        if self.command == "GET" or not self.server.proxy.refuses.is_set():
            super().handle_any()
            return
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.proxy.refused += 1
        self.send_response(500)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(FAILURE)))
        self.end_headers()
        self.wfile.write(FAILURE)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = handle_any  # noqa: N815


class RefusingProxy(ApiProxy):
    def __init__(self, api, folder, name):
        super().__init__(api, folder, name)
        self.refuses = threading.Event()
        self.refused = 0
        self._server.RequestHandlerClass = _Handler


class LogLimitTest(FakeClusterCase):
    def setUp(self):
        super().setUp()
        self.operator.stop()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.proxy = RefusingProxy(self.api, folder.name, "refusing")
        self.addCleanup(self.proxy.close)
        self.process = OperatorProcess(operator_binary(), self.proxy.kubeconfig, self.operator.log_path + ".limits",
                                       ["--launcher-image", LAUNCHER_IMAGE])
        self.addCleanup(lambda: self.process.running() and self.process.kill())
        self.process.start()

    def errors(self):
        return [json.loads(line) for line in self.process.log().splitlines() if '"level":"error"' in line]

    def test_writes_that_fail_again_and_again(self):
        begin = time.monotonic()
        self.proxy.refuses.set()
        jobs = [self.submit(f"job-{number}") for number in range(JOBS)]
        wait_for("writes to fail", lambda: self.proxy.refused > FAILED_WRITES, detail=self.process.tail)
        lines = self.process.log().count("\n")
        most = MESSAGES * (BURST + (time.monotonic() - begin) / INTERVAL)
        print(f"{self.proxy.refused} failed writes, {lines} log lines, {most:.0f} allowed ", end="", flush=True)
        self.assertLess(lines, most, self.process.tail())
        wait_for("a line that tells what fails", self.errors, detail=self.process.tail)
        wait_for("a line that tells of those left out", lambda: any("leftOut" in line for line in self.errors()),
                 detail=self.process.tail)
        self.proxy.refuses.clear()
        jobs[0].wait_phase("Running")

    def test_server_that_is_away(self):
        lines, before = self.process.log().count("\n"), len(self.proxy.requests)
        self.proxy.cut()
        job = self.submit("meanwhile")  # each watch ends when the proxy gets something for it
        for kind, name in (("nodes", self.node_names[0]), ("gpupools", self.pool)):
            self.api.patch(kind, name, {"metadata": {"annotations": {"test/changed": "1"}}})
        wait_for("tries to connect", lambda: len(self.proxy.requests) > before + 8, detail=self.process.tail)
        told = self.process.log().count("\n") - lines
        print(f"{len(self.proxy.requests) - before} tries, {told} log lines ", end="", flush=True)
        self.assertLess(told, 16, self.process.tail())
        wait_for("a line that tells that the server is away", lambda: self.process.log().count("\n") > lines,
                 detail=self.process.tail)
        self.proxy.mend()
        job.wait_phase("Running")
