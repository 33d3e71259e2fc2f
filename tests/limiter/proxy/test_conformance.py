# SPDX-License-Identifier: Apache-2.0
"""S7: tests/limiter/conformance, on made-up driver libraries."""

import os
import shutil
import subprocess
import unittest
from pathlib import Path

from tests.kit.paths import ROOT, build_folder
from tests.limiter.container import scratch, test_library
from tests.limiter.proxy import compare_driver, compare_runtime
from tests.limiter.proxy.driver_case import REPLAYED, replay

RUNTIME = "libcudart.so.12"


class Conformance(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = scratch()
        self.addCleanup(shutil.rmtree, self.folder)

    def place(self, source: str, version: str) -> None:
        """A stand-in for a driver under the name of this version."""
        shutil.copy(f"{source}/{REPLAYED}", self.folder / f"libcuda.so.{version}")

    def compare(self, *arguments: str, drivers: str = "") -> tuple[int, str]:
        done = subprocess.run([ROOT / "tests" / "limiter" / "conformance", *arguments], capture_output=True, text=True,
                              env={**os.environ, "DRIVERS": drivers}, timeout=120, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_differs(self, *texts: str) -> None:
        code, output = self.compare(str(self.folder))
        self.assertEqual(code, 1, output)
        lines = [line.removeprefix("  differs: ") for line in output.splitlines() if line.startswith("  differs: ")]
        self.assertEqual([line[:len(text)] for line, text in zip(lines, texts)], list(texts), output)
        self.assertEqual(len(lines), len(texts), output)

    def test_without_folders(self) -> None:
        code, output = self.compare()
        self.assertEqual(code, 1)
        self.assertIn("name the folders of driver libraries", output)
        code, output = self.compare(str(self.folder))
        self.assertEqual(code, 1)
        self.assertIn(f"{self.folder}: no libcuda.so.* and no libnvidia-ml.so.* in this folder", output)

    def test_a_known_driver(self) -> None:
        """And a link to it is not another library. Old drivers have no cuGetProcAddress_v2."""
        for driver, version in ((470, "470.256.02"), (555, "555.58.02")):
            self.place(replay(driver), version)
        (self.folder / REPLAYED).symlink_to("libcuda.so.555.58.02")
        shutil.copy(f"{test_library('runtime')}/{RUNTIME}", self.folder)
        code, output = self.compare(drivers=f"{self.folder}")
        self.assertEqual((code, output.splitlines()[-1]), (0, "2 libraries, 0 differences"), output)
        for version in ("470.256.02", "555.58.02"):
            self.assertIn(f"libcuda.so.{version}: 2 functions, 0 differences", output)

    def test_another_version_of_a_known_driver(self) -> None:
        """It may have more than the older one whose data there are."""
        self.place(replay(550), "545.23.08")
        code, output = self.compare(str(self.folder))
        self.assertEqual(code, 0, output)
        self.assertIn("note: answers that are newer than driver 535: ", output)
        self.assertIn("NOT COMPARED: a CUDA runtime over a driver", output)

    def test_functions_and_data_that_nobody_knows(self) -> None:
        self.place(f"{replay(555)}-newer", "560.35.03")
        self.assert_differs("functions that limiter/proxy/names/cuda.txt lacks: cuMadeUp",
                            "exported data that are not the debugger's: cuMadeUpData")

    def test_other_answers(self) -> None:
        self.place(replay(550), "555.58.02")
        self.assert_differs("functions of its data that it lacks: cuCtxCreate_v4,",
                            "answers other than the data of 555 say: cuCtxCreate (60)")

    def test_runtime(self) -> None:
        """S6, and a runtime that looks whether the driver is the driver's own file."""
        driver = compare_driver.Library(Path(replay(470), REPLAYED), compare_driver.CUDA, "470.256.02")
        good, suspicious = (compare_runtime.compare(Path(test_library(name), RUNTIME), driver) for name in ("runtime", "runtime-suspicious"))
        self.assertEqual((good.functions, good.differences), (2, []))
        self.assertEqual(len(suspicious.differences), 1)
        self.assertRegex(suspicious.differences[0], "^results that are others with the limiter: cudaGetDeviceCount .* \\(with it 999 0\\)$")

    def test_no_library(self) -> None:
        (self.folder / REPLAYED).write_text("nonsense", encoding="utf-8")
        self.assert_differs("not a library that exports functions")

    def test_nvml(self) -> None:
        """That of the tests has every function that the proxy's list has, but not those of this driver alone."""
        shutil.copy(build_folder() / "lib" / "libnvidia-ml.so.1", self.folder)
        code, output = self.compare(str(self.folder))
        self.assertEqual(code, 0, output)
        (self.folder / "libnvidia-ml.so.1").rename(self.folder / "libnvidia-ml.so.470.256.02")
        self.assert_differs("functions that its data lack: ", "functions of its data that it lacks: ")


if __name__ == "__main__":
    unittest.main()
