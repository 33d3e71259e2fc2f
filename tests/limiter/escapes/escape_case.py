# SPDX-License-Identifier: Apache-2.0
"""What tests of escapes share: a pretended machine with one GPU, a container with a slice of it, and the plugin's audit."""

import json
import os
import shutil
import subprocess
import unittest
import zlib

from tests.kit.paths import build_folder, program
from tests.limiter.container import Container, libraries, scratch, test_program

MIB = 1 << 20
UUID = "GPU-00000000-0000-0000-0000-000000000001"
MEMORY, CONTEXT, LIMIT, STEP = 2000, 100, 520, 50
CLOSED = f"{LIMIT - CONTEXT - 20} 2\n"  # what a program gets: whole steps, and then "out of memory"
OPEN = f"{MEMORY - CONTEXT} 2\n"  # all of the GPU
FAKE = [str(build_folder() / "lib" / "fake-cuda"), str(build_folder() / "lib")]


def limits_file() -> str:
    text = f"gpupool-limits 1\ndevice 0 {UUID} {LIMIT} - 0\ncontext {CONTEXT}\n"
    return text + f"crc32 {zlib.crc32(text.encode()):08x}\n"


class Taker:
    """A program of the container that keeps what it took until stop()."""

    def __init__(self, container: Container, env: dict[str, str], *arguments: str) -> None:
        self.process = subprocess.Popen(container.command([test_program("take-memory"), *arguments]), env={**os.environ, **env},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.said = self.process.stdout.readline()

    def stop(self) -> None:
        self.process.communicate("")


class EscapeCase(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = scratch()
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        self.run_folder = self.folder / "run"
        self.run_folder.mkdir()
        self.region = self.run_folder / "region"
        world = self.folder / "world.json"
        world.write_text(json.dumps({"node": "n", "gpus": [{"uuid": UUID, "memoryMiB": MEMORY, "contextMiB": CONTEXT}]}),
                         encoding="utf-8")
        self.fake = {"GPUPOOL_FAKE_NVML": str(world)}
        self.env = {**self.fake, "LD_LIBRARY_PATH": ":".join(FAKE)}
        self.container().output(test_program("use-slice"), "--", "/bin/true")  # makes the region

    def container(self, preload: list[str] | None = None, cached: bool = False, mounts: dict[str, str] | None = None) -> Container:
        return Container(preload=libraries() if preload is None else preload, files={"/etc/gpupool/limits": limits_file()},
                         run_folder=str(self.run_folder), library_folders=FAKE if cached else (), mounts=mounts or {})

    def taker(self, *arguments: str, container: Container | None = None) -> Taker:
        made = Taker(container or self.container(), self.env, *arguments)
        self.addCleanup(made.stop)
        return made

    def audit(self) -> list[str]:
        """What the audit finds, with the driver's own figure."""
        done = subprocess.run([program("fake-cuda-bytes")], env={**os.environ, **self.env}, capture_output=True, text=True, check=True)
        used = json.loads(done.stdout).get(UUID, {"used": 0})["used"]
        done = subprocess.run([test_program("audit-region"), str(self.region), str(LIMIT), str(used)], capture_output=True, text=True,
                              check=True)
        return done.stdout.splitlines()
