# SPDX-License-Identifier: Apache-2.0
"""What tests of limiter/cuda share: containers with limits on a pretended machine of two GPUs."""

import json
import shutil
import subprocess
import unittest
import zlib
from typing import Any, Sequence

from tests.kit.paths import build_folder
from tests.limiter.container import Container, scratch, test_program

MIB = 1 << 20
UUIDS = [f"GPU-00000000-0000-0000-0000-00000000000{number}" for number in range(2)]
DRIVER = f"{build_folder()}/lib/fake-cuda"
WITH_NVML = f"{DRIVER}:{build_folder()}/lib"
MEMORY = 4096  # MiB of each GPU
CONTEXT = 64  # MiB that a context takes


def limits_file(*mib: int | None, wait: int = 0, uuids: Sequence[str] = UUIDS) -> str:
    """For the machine's GPUs, in its order; None: no limit."""
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
        self.world = self.folder / "world.json"
        self.machine()
        self.env = {"LD_LIBRARY_PATH": DRIVER, "GPUPOOL_FAKE_NVML": str(self.world)}

    def machine(self, memory: int = MEMORY, **driver: Any) -> None:
        """Two GPUs of so many MiB."""
        gpus = [{"uuid": uuid, "model": "Test", "memoryMiB": memory, "computeCapability": "9.0", "contextMiB": CONTEXT,
                 "multiprocessors": 8} for uuid in UUIDS]
        self.world.write_text(json.dumps({"node": "n", "driver": driver, "gpus": gpus}), encoding="utf-8")

    def container(self, *mib: int | None, wait: int = 0) -> Container:
        return Container(files={"/etc/gpupool/limits": limits_file(*mib, wait=wait)})

    def run_in(self, container: Container, name: str, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        """A program in the container, after its region is made."""
        return container.run(test_program("use-slice"), "--", test_program(name), *arguments, env={**self.env, **env})

    def output_of(self, container: Container, name: str, *arguments: str, **env: str) -> str:
        done = self.run_in(container, name, *arguments, **env)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout + done.stderr)
        return done.stdout
