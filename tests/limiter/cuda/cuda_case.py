# SPDX-License-Identifier: Apache-2.0
"""What tests of limiter/cuda share: containers with limits, in front of a driver with memory alone."""

import shutil
import subprocess
import unittest
import zlib
from typing import Sequence

from tests.limiter.container import Container, scratch, test_library, test_program

MIB = 1 << 20
UUIDS = [f"GPU-00000000-0000-0000-0000-00000000000{number}" for number in range(2)]
STANDIN = test_library("standin")
CONTEXT = 64  # MiB that a context of the stand-in takes


def limits_file(*mib: int | None, wait: int = 0, uuids: Sequence[str] = UUIDS) -> str:
    """For the stand-in's devices, in its order; None: no limit."""
    text = "gpupool-limits 1\n"
    for number, limit in enumerate(mib):
        text += f"device {number} {uuids[number]} {'-' if limit is None else limit} - 0\n"
    text += f"wait {wait}\n" if wait else ""
    text += f"context {CONTEXT}\n"
    return text + f"crc32 {zlib.crc32(text.encode()):08x}\n"


class CudaCase(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = scratch()
        self.addCleanup(shutil.rmtree, self.folder)
        self.env = {"LD_LIBRARY_PATH": STANDIN, "STANDIN": f"{STANDIN}/libcuda.so.1"}

    def container(self, *mib: int | None, wait: int = 0) -> Container:
        return Container(files={"/etc/gpupool/limits": limits_file(*mib, wait=wait)})

    def run_in(self, container: Container, name: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """A program in the container, after its region is made."""
        return container.run(test_program("use-slice"), "--", test_program(name), *arguments, env={**self.env, **env})

    def output_of(self, container: Container, name: str, *arguments: str, **env: str) -> str:
        done = self.run_in(container, name, *arguments, **env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        return done.stdout
