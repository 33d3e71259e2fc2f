# SPDX-License-Identifier: Apache-2.0
"""Runs gpupool-ledger."""

import json
import os
import re
import subprocess
import urllib.error
import urllib.request
from typing import Any

from tests.kit.certificate import make_certificate
from tests.kit.paths import program
from tests.kit.readers import ask
from tests.kit.waiting import wait_for


class LedgerProcess:
    """start() again after kill() is the restarted ledger."""

    def __init__(self, kubeconfig: str, folder: str, volume: str | None = None, host: str = "") -> None:
        """volume: a folder for the books alone. host: an address of this machine on which it serves readers."""
        self._kubeconfig, self.folder = kubeconfig, folder
        self.database, self._log = os.path.join(volume or folder, "ledger.db"), os.path.join(folder, "ledger.log")
        self._process: subprocess.Popen | None = None
        self._begin = 0
        self.certificate, self._flags = os.path.join(folder, "tls.crt"), [] if not host else [
            "--readers-bind-address", f"{host}:0", "--tls-directory", folder, "--access-cache-seconds", "1"]
        self._host = host
        if host:
            make_certificate(folder, "ledger", f"IP:{host}")

    def start(self) -> None:
        with open(self._log, "ab") as log:
            self._begin = log.tell()
            self._process = subprocess.Popen(
                [program("gpupool-ledger"), "serve", "--kubeconfig", self._kubeconfig, "--database", self.database,
                 "--health-bind-address", "127.0.0.1:0", *self._flags], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self) -> None:
        """As the kernel does it: it can do nothing more."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def wait_ready(self) -> None:
        wait_for("the ledger to be ready", lambda: self.get("/readyz")[0] == 200, detail=self.log)

    def log(self) -> str:
        with open(self._log, "rb") as log:
            log.seek(self._begin)
            return log.read().decode(errors="replace")

    def get(self, path: str) -> tuple[int, str]:
        """(0, "") as long as it does not listen."""
        found = re.search(r'"healthPort":(\d+)', self.log())
        if not found:
            return 0, ""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}{path}", timeout=10) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def readers_port(self) -> int:
        found: list[str] = wait_for("the ledger to serve readers", lambda: re.findall(r'"serving readers".*"port":(\d+)', self.log()),
                                    detail=self.log)
        return int(found[-1])

    def ask(self, path: str, token: str | None, **headers: str) -> tuple[int, str]:
        """As a reader."""
        status, body = ask(self._host, self.readers_port(), self.certificate, path, token, **headers)
        return status, body.decode()

    def run(self, *words: str) -> subprocess.CompletedProcess:
        """One of the other commands, beside the one that serves."""
        return subprocess.run([program("gpupool-ledger"), words[0], "--database", self.database, *words[1:]],
                              capture_output=True, text=True, timeout=60, check=False)

    def entries(self) -> list[Any]:
        done = self.run("export")
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.splitlines()]

    def statement(self, *words: str) -> Any:
        done = self.run(*words, "--format", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
