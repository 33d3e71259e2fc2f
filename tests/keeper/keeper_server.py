# SPDX-License-Identifier: Apache-2.0
"""gpupool-keeper as a process, with a store of its own."""

import hashlib
import hmac
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import urllib.parse
import urllib.request
from typing import Any

from tests.kit.certificate import make_certificate
from tests.kit.paths import program
from tests.kit.readers import ask
from tests.kit.waiting import wait_for

KEY = b"k" * 32


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def attempt_token(uid: str, number: int, ns: str, key: bytes = KEY) -> bytes:
    return hmac.new(key, f"{uid}|{number}|{ns}".encode(), hashlib.sha256).digest()


class KeeperServer:
    """flags: of gpupool-keeper. data: a folder for the store, if not one of its own. variables: more of its environment."""

    def __init__(self, kubeconfig: str, *flags: str, data: str = "", variables: dict[str, str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gpupool-keeper-")
        folder = self.folder = self._folder.name
        self.data = data or f"{folder}/data"
        self.keys = f"{folder}/keys"
        os.mkdir(self.keys)
        self.add_key("k1", KEY)
        os.mkdir(f"{folder}/tls")
        self.certificate = f"{folder}/tls/tls.crt"
        make_certificate(f"{folder}/tls", "keeper", "IP:127.0.0.1")
        self.port, self.readers_port, self.health_port = free_port(), free_port(), free_port()
        self._command = [program("gpupool-keeper"), "--kubeconfig", kubeconfig, "--data-directory", self.data, "--keys-directory",
                         self.keys, "--tls-directory", f"{folder}/tls", "--writers-bind-address", f"127.0.0.1:{self.port}",
                         "--readers-bind-address", f"127.0.0.1:{self.readers_port}",
                         "--health-bind-address", f"127.0.0.1:{self.health_port}", *flags]
        self._variables = dict(os.environ, **(variables or {}))
        self.log_path = f"{folder}/log"
        self.start()

    def add_key(self, name: str, key: bytes) -> None:
        with open(f"{self.keys}/{name}", "wb") as target:
            target.write(key)

    def start(self) -> None:
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self._command, stderr=log, env=self._variables)
        wait_for("gpupool-keeper", self._serves, detail=self.log)

    def _serves(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"gpupool-keeper has ended:\n{self.log()}")
        return all(self._takes(port) for port in (self.port, self.readers_port, self.health_port))

    @staticmethod
    def _takes(port: int) -> bool:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            return True
        except OSError:
            return False

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def log(self) -> str:
        with open(self.log_path, encoding="utf-8") as source:
            return source.read()

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
        return float(found.group(1)) if found else -1.0

    def ask(self, path: str, token: str | None, method: str = "GET", **headers: str) -> tuple[int, bytes]:
        return ask("127.0.0.1", self.readers_port, self.certificate, path, token, method, **headers)

    def output(self, token: str, ns: str, uid: str, number: int = 0, rank: int = 0, **parameters: Any) -> str:
        """What is stored of a rank, as text. parameters: of the query."""
        query = urllib.parse.urlencode(parameters)
        status, body = self.ask(f"/v1/namespaces/{ns}/jobs/{uid}/leases/{number}/ranks/{rank}/log?{query}", token)
        if status != 200:
            raise AssertionError(f"{status}: {body!r}")
        return body.decode("utf-8", "surrogateescape")

    def attempts(self, token: str, ns: str, **parameters: str) -> list[dict[str, Any]]:
        status, body = self.ask(f"/v1/namespaces/{ns}/attempts?{urllib.parse.urlencode(parameters)}", token)
        if status != 200:
            raise AssertionError(f"{status}: {body!r}")
        found: list[dict[str, Any]] = json.loads(body)["attempts"]
        return found

    def close(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(60)
        finally:
            self.process.kill()
            self._folder.cleanup()
