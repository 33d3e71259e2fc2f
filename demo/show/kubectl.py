# SPDX-License-Identifier: Apache-2.0
import json
import os
import subprocess
import tempfile

from demo.show.errors import DemoError
from tests.kit.api import Object
from tests.kit.paths import cli_binary

TIMEOUT = 60


class Kubectl:
    """kubectl on one cluster. Thread-safe."""

    def __init__(self, environment: dict[str, str]) -> None:
        plugins = os.path.dirname(cli_binary())  # kubectl finds kubectl-gpupool in the PATH
        self._environment = {**environment, "PATH": f"{plugins}:{environment['PATH']}"}
        self._program = environment["KUBECTL"]

    def run(self, *arguments: str) -> str:
        """stdout of a call that must succeed."""
        try:
            done = subprocess.run([self._program, *arguments], env=self._environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, check=False, timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            raise DemoError(f"kubectl {' '.join(arguments)}: no answer in {TIMEOUT} s") from None
        if done.returncode != 0:
            raise DemoError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def items(self, kinds: str, *arguments: str) -> list[Object]:
        return json.loads(self.run("get", kinds, "-o", "json", *arguments))["items"]

    def stream(self, *arguments: str) -> subprocess.Popen:
        """A running call whose stdout is read line by line; the caller ends it."""
        return subprocess.Popen([self._program, *arguments], env=self._environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1,
                                start_new_session=True)

    def apply(self, path: str, *flags: str) -> None:
        self.run("apply", "-f", path, *flags)

    def apply_text(self, text: str) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            self.apply(file.name)

    def server_url(self) -> str:
        return self.run("config", "view", "--minify", "-o", "jsonpath={.clusters[0].cluster.server}")

    def server_minor(self) -> int:
        version = json.loads(self.run("version", "-o", "json"))["serverVersion"]
        return int("".join(filter(str.isdigit, version["minor"])))
