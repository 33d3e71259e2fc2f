# SPDX-License-Identifier: Apache-2.0
"""A pretended machine with one GPU, and programs on it."""

import json
import os
import shutil
import subprocess
import unittest
from pathlib import Path
from typing import Any

from tests.kit.paths import build_folder, program
from tests.limiter.container import scratch

MIB = 1 << 20
GRANULE = 2 * MIB
MEMORY = 1000 * MIB
CONTEXT = 100 * MIB
UUID = "GPU-00000000-0000-0000-0000-000000000001"
SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NOT_INITIALIZED = 0, 1, 2, 3
INVALID_CONTEXT, INVALID_HANDLE, NOT_FOUND, NOT_SUPPORTED = 201, 400, 500, 801


class Client:
    """One process that uses the driver."""

    def __init__(self, env: dict[str, str]) -> None:
        self.process = subprocess.Popen([str(Path(__file__).with_name("client.py"))], env={**os.environ, **env},
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, name: str, *arguments: Any) -> list[Any]:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, *arguments]) + "\n")
        self.process.stdin.flush()
        answer: list[Any] = json.loads(self.process.stdout.readline())
        return answer

    def good(self, name: str, *arguments: Any) -> Any:
        """Its first output, if it has any; it must not fail."""
        code, *outputs = self.call(name, *arguments)
        if code != SUCCESS:
            raise AssertionError(f"{name}: {code}")
        return outputs[0] if outputs else None

    def start(self) -> "Client":
        """Takes the primary context."""
        self.good("cuInit", 0)
        self.good("cuCtxSetCurrent", self.good("cuDevicePrimaryCtxRetain", {"out": 8}, 0))
        return self

    def allocate(self, size: int) -> int:
        return int(self.good("cuMemAlloc_v2", {"out": 8}, size))

    def free_bytes(self) -> int:
        return int(self.good("cuMemGetInfo_v2", {"out": 8}, {"out": 8}))

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


class DriverCase(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = scratch()
        self.addCleanup(shutil.rmtree, self.folder)
        self.world = self.folder / "world.json"
        self.world.write_text(json.dumps({"node": "n", "driver": {"poolGrowthMiB": 32}, "gpus": [
            {"uuid": UUID, "memoryMiB": MEMORY // MIB, "contextMiB": CONTEXT // MIB}]}), encoding="utf-8")
        self.env = {"GPUPOOL_FAKE_NVML": str(self.world), "GPUPOOL_FAKE_CUDA_FAIL": str(self.folder / "fail"),
                    "LD_LIBRARY_PATH": f"{build_folder()}/lib/fake-cuda:{build_folder()}/lib"}

    def client(self) -> Client:
        made = Client(self.env)
        self.addCleanup(made.end)
        return made

    def inject(self, *lines: str) -> None:
        """Failures to inject: "NAME COUNT CODE [SKIP]"."""
        fresh = self.folder / "fail.new"
        fresh.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        os.replace(fresh, self.folder / "fail")

    def output(self, *command: str) -> str:
        return subprocess.run(command, env={**os.environ, **self.env}, check=True, text=True, stdout=subprocess.PIPE).stdout

    def ledger(self) -> dict[str, Any]:
        """What fake-cuda-bytes says of the GPU."""
        found: dict[str, Any] = json.loads(self.output(program("fake-cuda-bytes"))).get(UUID, {"used": 0, "processes": []})
        return found

    def used(self) -> int:
        return int(self.ledger()["used"])
