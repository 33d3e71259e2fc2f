# SPDX-License-Identifier: Apache-2.0
"""Runs gpupool-operator as a process."""

import http.client
import json
import os
import subprocess
import time
from typing import Sequence

from tests.kit.waiting import wait_for


# For tests of what a change of the leader does, not of how long it takes.
SHORT_TERMS = ("--leader-elect-lease-duration=3s", "--leader-elect-renew-deadline=2s", "--leader-elect-retry-period=500ms")


class OperatorProcess:
    """Not started until start(); start() again after kill() or stop() is the restarted operator."""

    def __init__(self, binary: str, kubeconfig: str, log_path: str, arguments: Sequence[str] = ()) -> None:
        self._command = [binary, "--kubeconfig", kubeconfig, "--metrics-bind-address", "127.0.0.1:0", *arguments]
        self._started: subprocess.Popen | None = None
        self._begin = 0
        self._ended_by_test = False
        self.log_path = log_path
        self.environment: dict[str, str] = {}  # of the next start, beside this process's own

    @property
    def _process(self) -> subprocess.Popen:
        if self._started is None:
            raise AssertionError("the operator was not started")
        return self._started

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def running(self) -> bool:
        return self._started is not None and self._started.poll() is None

    def died(self) -> bool:
        """It has ended, and no test ended it."""
        return self._started is not None and self._started.poll() is not None and not self._ended_by_test

    def start(self, ready: bool = True) -> "OperatorProcess":
        assert not self.running(), "the operator runs already"
        self._ended_by_test = False
        with open(self.log_path, "ab") as log:
            self._begin = log.tell()
            self._started = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                             env={**os.environ, **self.environment})
        if ready:
            wait_for("the operator to be ready", self._is_ready, detail=self.tail)
        return self

    def _is_ready(self) -> bool:
        if not self.running():
            raise AssertionError(f"the operator ended with code {self._process.returncode}\n{self.tail()}")
        return self.port() is not None and self.http("/readyz")[0] == 200

    def leads(self) -> bool:
        return bool(self.metric("leader_election_master_status") == 1)

    def wait_leads(self) -> None:
        wait_for("the operator to lead", self.leads, detail=self.tail)

    def log(self) -> str:
        """What this run has logged so far."""
        with open(self.log_path, "rb") as log:
            log.seek(self._begin)
            return log.read().decode(errors="replace")

    def log_size(self) -> int:
        """Of all runs, in bytes."""
        return os.path.getsize(self.log_path) if os.path.exists(self.log_path) else 0

    def endless_reconciles(self, begin: int) -> list[str]:
        """What was logged after so many bytes of reconciles in which two steps undo each other."""
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            log.seek(begin)
            return [line for line in log if "a reconcile took too many steps" in line]

    def tail(self) -> str:
        return "operator log:\n" + "\n".join(self.log().splitlines()[-15:])

    def port(self) -> int | None:
        for line in self.log().splitlines():
            if "serving metrics" in line:
                return int(json.loads(line)["port"])
        return None

    def http(self, path: str) -> tuple[int, str]:
        """(status, body); (0, '') if nothing listens, or not until the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=60)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except ConnectionError:
            return 0, ""
        finally:
            connection.close()

    def metric(self, prefix: str) -> float:
        """The sum of all samples whose name and labels begin with prefix."""
        lines = self.http("/metrics")[1].splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(prefix))

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def kill(self) -> None:
        """As the kernel would: no chance to clean up."""
        self._ended_by_test = True
        self._process.kill()
        self._process.wait(timeout=20)

    def stop(self) -> tuple[int, float]:
        """SIGTERM. (exit code, seconds it took)."""
        self._ended_by_test = True
        begin = time.monotonic()
        self._process.terminate()
        try:
            code = self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the operator did not end within 30 s of SIGTERM\n" + self.tail()) from None
        return code, time.monotonic() - begin
