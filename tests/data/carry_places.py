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
        for name in ("work", "state", "secrets", "config-maps"):
            (self.folder / name).mkdir()

    def fetch(self, source: dict[str, Any]) -> list[str]:
        """The command that fetches it into `work`."""
        return [program("gpupool-carry"), "fetch", "--source", json.dumps(source), "--work", str(self.folder / "work"),
                "--state", str(self.folder / "state"), "--secrets", str(self.folder / "secrets"), "--config-maps",
                str(self.folder / "config-maps"), "--termination-log", str(self.folder / "log")]

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
