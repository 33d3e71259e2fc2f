# SPDX-License-Identifier: Apache-2.0
"""tests/gpu/run, as far as it goes without a GPU: its logic, on the driver of tests/fake-cuda."""

import json
import os
import shutil
import subprocess
import unittest
import zlib
from pathlib import Path
from typing import Any

from tests.gpu import region_file
from tests.kit.paths import ROOT, build_folder
from tests.limiter.container import Container, scratch, test_program

SCRIPT = str(ROOT / "tests" / "gpu" / "run")
UUID = "GPU-00000000-0000-0000-0000-000000000001"
MEMORY = 10_000
OF_MEMORY = ["sizes", "fill", "contexts", "small", "pools", "arrays", "orders", "kills"]
OF_SPEED = ["speed"]
OF_FRAMEWORKS = ["torch", "frameworks"]


class GpuScript(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = scratch()
        self.addCleanup(shutil.rmtree, self.folder)
        world = self.folder / "world.json"
        world.write_text(json.dumps({"node": "n", "gpus": [{"uuid": UUID, "memoryMiB": MEMORY, "contextMiB": 100}]}), encoding="utf-8")
        self.env = {**os.environ, "GPUPOOL_FAKE_NVML": str(world),
                    "LD_LIBRARY_PATH": f"{build_folder()}/lib/fake-cuda:{build_folder()}/lib"}

    def parts(self, code: int, *arguments: str) -> dict[str, Any]:
        output = self.folder / "output.json"
        done = subprocess.run([SCRIPT, "--output", output, *arguments], env=self.env, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, code, done.stderr)
        found = json.loads(output.read_text(encoding="utf-8"))
        self.assertEqual((found["total_mib"], found["driver"]), (MEMORY, "550.54.15"))
        parts: dict[str, Any] = found["parts"]
        return parts

    def test_list(self) -> None:
        lines = subprocess.run([SCRIPT, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines], OF_MEMORY + OF_SPEED + OF_FRAMEWORKS)

    def test_parts_of_memory(self) -> None:
        for name, part in self.parts(0, "--part", *OF_MEMORY).items():
            self.assertGreater(len([row for row in part["values"] if row.get("ok")]), 1, name)
            self.assertEqual(part["missing"], [])

    def test_speed(self) -> None:
        values = self.parts(0, "--part", *OF_SPEED)["speed"]["values"]
        self.assertEqual(len(values), 8)
        self.assertTrue(all(row["value"] > 0 for row in values), values)

    def test_limits_are_seen_to_be_broken(self) -> None:
        parts = self.parts(1, "--without-limiter", "--part", "sizes", "fill")
        self.assertIn("total, empty", parts["sizes"]["failed"])
        self.assertIn("used as seen from outside, one program", parts["fill"]["failed"])

    def test_without_namespaces(self) -> None:
        """In a container of its own, since files are put into /etc and /run there."""
        command = Container(preload=[]).command(["/bin/sh", "-c", f"{SCRIPT} --preload-variable --part sizes && ls /etc/gpupool /run/gpupool"])
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        self.assertIn('"namespaces": false', done.stdout)
        self.assertTrue(done.stdout.endswith("/etc/gpupool:\n\n/run/gpupool:\n"), "nothing is left there")

    def test_missing_frameworks_are_told(self) -> None:
        """Their names are those of modules that nobody has."""
        shadow = self.folder / "shadow"
        shadow.mkdir()
        for name in ("torch", "jax", "cupy", "triton"):
            (shadow / f"{name}.py").write_text("raise ImportError\n", encoding="utf-8")
        self.env["PYTHONPATH"] = str(shadow)
        parts = self.parts(0, "--part", *OF_FRAMEWORKS)
        self.assertEqual(len(parts["torch"]["missing"]), 1)
        self.assertEqual(len(parts["frameworks"]["missing"]), 5)

    def use(self, *arguments: str) -> Path:
        """The region after a program has used so many MiB."""
        run = self.folder / "run"
        run.mkdir()
        limits = f"gpupool-limits 1\ndevice 0 {UUID} 1234 - 0\n"
        limits += f"crc32 {zlib.crc32(limits.encode()):08x}\n"
        container = Container(files={"/etc/gpupool/limits": limits}, run_folder=str(run))
        container.output(test_program("use-slice"), *arguments, "--", "/bin/true")
        return run / "region"

    def test_region_is_as_the_plugin_makes_it(self) -> None:
        made, ours = self.use().read_bytes(), region_file.content(UUID, 1234 << 20)
        self.assertEqual(len(made), len(ours))
        head = region_file.USED_SLOTS_AT
        self.assertEqual(made[:head], ours[:head])

    def test_region_is_read(self) -> None:
        region = self.use("77")
        self.assertEqual(region_file.counted(region), 77 << 20, "of the dead program too")
        self.assertEqual(region_file.counted(region, 0), 77 << 20)
        self.assertEqual(region_file.counted(region, region_file.CONTEXT), 0)
        self.assertEqual(region_file.state(region), 0)


if __name__ == "__main__":
    unittest.main()
