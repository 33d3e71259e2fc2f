# SPDX-License-Identifier: Apache-2.0
"""R2: the limiter's libraries are replaced under running programs, and meet a region of another version."""

import json
import os
import shutil
import struct
import subprocess
import unittest
from pathlib import Path
from typing import Any

from tests.kit.paths import ROOT
from tests.limiter.container import Container, libraries
from tests.limiter.escapes.escape_case import CLOSED, CONTEXT, LIMIT, MIB, EscapeCase

CLIENT = str(ROOT / "tests" / "limiter" / "fake_cuda" / "client.py")
OUT_OF_MEMORY = 2
LAYOUT_AT, STATE_AT, WRONG_REGION = 8, 16, 1 << 8


class Replaced(EscapeCase):
    def setUp(self) -> None:
        super().setUp()
        self.installed = [str(self.folder / Path(path).name) for path in libraries()]
        for path, copy in zip(libraries(), self.installed):
            shutil.copy(path, copy)

    def start(self, container: Container) -> None:
        self.process = subprocess.Popen(container.command([CLIENT]), env={**os.environ, **self.env}, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.process.communicate)

    def call(self, name: str, *arguments: Any) -> list[Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self.process.stdin.flush()
        answer: list[Any] = json.loads(self.process.stdout.readline())
        return answer

    def replace_libraries(self) -> None:
        """As an update of the node does: another file takes the name."""
        for path in self.installed:
            Path(path + ".new").write_text("of another version\n", encoding="utf-8")
            os.replace(path + ".new", path)

    def take_context(self) -> None:
        self.assertEqual(self.call("cuInit", 0), [0])
        code, context = self.call("cuDevicePrimaryCtxRetain", {"out": 8}, 0)
        self.assertEqual((code, self.call("cuCtxSetCurrent", context)), (0, [0]))

    def take_all(self, mib: int) -> None:
        code, pointer = self.call("cuMemAlloc_v2", {"out": 8}, mib * MIB)
        self.assertEqual(code, 0)
        self.assertEqual(self.call("cuMemAlloc_v2", {"out": 8}, 4 * MIB)[0], OUT_OF_MEMORY)
        self.assertEqual(self.call("cuMemFree_v2", pointer), [0])

    def test_before_the_first_call(self) -> None:
        self.start(self.container(preload=self.installed))
        self.assertEqual(self.call("cuDriverGetVersion", {"out": 4})[0], 0)
        self.replace_libraries()
        self.take_context()
        self.take_all(LIMIT - CONTEXT)

    def test_with_memory(self) -> None:
        self.start(self.container(preload=self.installed))
        self.take_context()
        code, kept = self.call("cuMemAlloc_v2", {"out": 8}, 100 * MIB)
        self.assertEqual(code, 0)
        self.replace_libraries()
        self.take_all(LIMIT - CONTEXT - 100)
        self.assertEqual(self.call("cuMemFree_v2", kept), [0])
        self.take_all(LIMIT - CONTEXT)

    def test_region_of_another_version(self) -> None:
        """Every allocation is refused, the region says why, and the plugin cannot take it for a good one."""
        before = self.taker("dlopen")
        self.assertEqual(before.said, CLOSED)
        with open(self.region, "r+b") as file:
            file.seek(LAYOUT_AT)
            file.write(struct.pack("<I", 2))
        self.assertEqual(self.taker("dlopen").said, "0 2\n")
        state = struct.unpack_from("<I", self.region.read_bytes(), STATE_AT)[0]
        self.assertTrue(state & WRONG_REGION, state)
        self.assertEqual(self.audit()[0], "unreadable")


if __name__ == "__main__":
    unittest.main()
