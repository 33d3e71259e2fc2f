# SPDX-License-Identifier: Apache-2.0
"""Directories as gpupool-carry finds them in a pod."""

import json
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from tests.kit.paths import program


class CarryCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("work", "state", "secrets", "config-maps", "claims", "launcher"):
            (self.folder / name).mkdir()

    def fetch(self, source: dict[str, Any]) -> list[str]:
        """The command that fetches it into `work`."""
        return [program("gpupool-carry"), "fetch", "--source", json.dumps(source), "--work", str(self.folder / "work"),
                "--state", str(self.folder / "state"), "--secrets", str(self.folder / "secrets"), "--config-maps",
                str(self.folder / "config-maps"), "--termination-log", str(self.folder / "log")]

    def push(self, results: list[dict[str, Any]], *flags: str) -> list[str]:
        """The command that puts them away."""
        return [program("gpupool-carry"), "push", "--results", json.dumps(results), "--job", "j", "--namespace", "ns", "--attempt",
                "2", "--rank", "0", "--work", str(self.folder / "work"), "--launcher", str(self.folder / "launcher"), "--claims",
                str(self.folder / "claims"), "--secrets", str(self.folder / "secrets"), "--termination-log",
                str(self.folder / "log"), *flags]

    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads((self.folder / "log").read_text(encoding="utf-8"))
        return report

    def launch(self, script: str, *flags: str) -> "subprocess.Popen[bytes]":
        """A worker as gpupool-launch runs it."""
        command = [program("gpupool-launch"), "run", "--job=j", "--attempt=2", "--nnodes=1", "--nproc=1",
                   "--master-addr=127.0.0.1", "--master-port=29500", "--rank=0", f"--state-dir={self.folder / 'launcher'}",
                   f"--termination-log={self.folder / 'launch-log'}", *flags, "--", "sh", "-c", script]
        return subprocess.Popen(command, cwd=self.folder / "work", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run_fetch(self, source: dict[str, Any], limit: float = 60) -> tuple[int, dict[str, Any]]:
        """Exit code and report."""
        done = subprocess.run(self.fetch(source), capture_output=True, text=True, timeout=limit, check=False)
        return done.returncode, json.loads((self.folder / "log").read_text(encoding="utf-8"))

    def secret(self, name: str, **values: str) -> None:
        (self.folder / "secrets" / name).mkdir()
        for key, value in values.items():
            (self.folder / "secrets" / name / key).write_text(value, encoding="utf-8")

    def tree(self, below: str = "work") -> dict[str, bytes]:
        top = self.folder / below
        return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}
