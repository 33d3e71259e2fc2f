# SPDX-License-Identifier: Apache-2.0
"""E1: each way past the limit of memory is either closed, or the device plugin's audit finds what it takes.

tests/limiter/README.md has the table. The GPU is tests/fake-cuda's, which counts by itself what each process holds.
"""

import os
import re
import shutil
import signal
import subprocess
import unittest

from tests.kit.paths import build_folder
from tests.limiter.container import Container, libraries, test_program
from tests.limiter.escapes.escape_case import CLOSED, FAKE, LIMIT, MIB, OPEN, EscapeCase

CUDA = libraries()[0]
DRIVER = f"{FAKE[0]}/libcuda.so.1"
NOBODY = "65534"


class Closed(EscapeCase):
    def take(self, *arguments: str, container: Container | None = None, env: dict[str, str] | None = None) -> str:
        return (container or self.container()).output(test_program("take-memory"), *arguments, env={**self.env, **(env or {})})

    def test_without_the_limiter(self) -> None:
        """The whole GPU is to be had then: the other tests can fail."""
        self.assertEqual(self.take("dlopen", container=self.container(preload=[])), OPEN)

    def test_environment_of_the_pod(self) -> None:
        self.assertEqual(self.take("dlopen", env={"CUDA_DEVICE_MEMORY_LIMIT_0": "100g", "GPUPOOL_LIMITS": "/tmp/none",
                                                  "CUDA_REDIRECT": "/tmp/none", "LD_PRELOAD": ""}), CLOSED)

    def test_new_environment(self) -> None:
        """As by ssh, cron and sudo: the limit is in files."""
        variables = [f"{name}={value}" for name, value in self.fake.items()]
        output = self.container(cached=True).output("/usr/bin/env", "-i", *variables, test_program("take-memory"), "dlopen")
        self.assertEqual(output, CLOSED)

    def test_setuid_program(self) -> None:
        taker = self.folder / "take-memory"
        shutil.copy(test_program("take-memory"), taker)
        taker.chmod(0o4755)
        folders = [str(self.folder / name) for name in ("fake-cuda", "nvml")]
        for folder, source in zip(folders, ("fake-cuda/libcuda.so.1", "libnvidia-ml.so.1")):
            os.mkdir(folder)
            shutil.copy(build_folder() / "lib" / source, folder)
        container = self.container(preload=[shutil.copy(path, self.folder) for path in libraries()])
        container.library_folders = folders
        output = container.output("/usr/bin/setpriv", f"--reuid={NOBODY}", "--clear-groups", str(taker), "dlopen", env=self.fake)
        self.assertEqual(output, CLOSED)

    def test_names_and_flags(self) -> None:
        for way in ("dlopen", "unversioned", "deepbind"):
            self.assertEqual(self.take(way), CLOSED, way)

    def test_walk_of_the_symbol_tables(self) -> None:
        """A program that reads the loader's tables itself finds ours first."""
        self.assertEqual(self.take("walk"), CLOSED)

    def test_path_of_the_driver_under_a_mount(self) -> None:
        driver = self.folder / "driver"
        driver.mkdir()
        for name in ("libcuda.so.1", "libcuda.so.550.54.15"):
            shutil.copy(DRIVER, driver / name)
        path = str(driver / "libcuda.so.1")
        container = self.container(mounts={path: CUDA})
        container.library_folders = [str(driver), FAKE[1]]
        self.assertEqual(container.output(test_program("take-memory"), "path", path, env=self.fake), CLOSED)

    def test_managed_memory(self) -> None:
        self.assertEqual(self.take("managed"), CLOSED)

    def test_other_limits_file(self) -> None:
        """One that is not the plugin's: nothing is granted."""
        container = self.container()
        container.files = {"/etc/gpupool/limits": ""}
        self.assertEqual(self.take("dlopen", container=container), "0 2\n")


class Audited(EscapeCase):
    """These ways are open. The audit sees the memory."""

    def assert_found(self, kind: str) -> None:
        [found] = self.audit()
        self.assertRegex(found, f"^{kind} ")

    def test_what_fits_is_no_finding(self) -> None:
        self.assertEqual(self.taker("dlopen").said, CLOSED)
        self.assertEqual(self.audit(), ["fits"])

    def test_another_namespace_of_the_loader(self) -> None:
        self.assertEqual(self.taker("namespace").said, OPEN)
        self.assert_found("OverLimit")

    def test_path_of_the_driver(self) -> None:
        """Where the container's runtime cannot mount ours over it."""
        self.assertEqual(self.taker("path", DRIVER).said, OPEN)
        self.assert_found("OverLimit")

    def test_without_the_preload_file(self) -> None:
        """Images with another one, loaders of Nix, static programs, containers in the container, calls of the kernel driver:
        to the audit they are one, memory that the driver counts and the limiter does not."""
        self.assertEqual(self.taker("dlopen", container=self.container(preload=[])).said, OPEN)
        self.assert_found("OverLimit")

    def test_within_the_limit_but_not_counted(self) -> None:
        neighbour = self.taker("dlopen", container=self.container(preload=[]))
        neighbour.stop()
        self.assertEqual(self.audit(), ["fits"])
        done = subprocess.run([test_program("audit-region"), str(self.region), str(LIMIT), str(300 * MIB)], capture_output=True,
                              text=True, check=True)
        self.assertEqual(done.stdout, f"Uncounted {300 * MIB} 0\n")

    def overwrite(self, pattern: bytes) -> None:
        """Writes another number wherever the region says what somebody has taken."""
        content = self.region.read_bytes()
        places = [match.start() for match in re.finditer(re.escape(pattern), content) if match.start() % 8 == 0]
        self.assertTrue(places)
        with open(self.region, "r+b") as file:
            for place in places:
                file.seek(place)
                file.write(bytes(len(pattern)))

    def test_edited_region(self) -> None:
        """The sums of a neighbour that sleeps are made 0: the next process gets the slice again."""
        self.assertEqual(self.taker("dlopen").said, CLOSED)
        self.overwrite(((LIMIT - 20) * MIB).to_bytes(8, "little"))
        self.assertEqual(self.taker("dlopen").said, CLOSED)
        self.assert_found("OverLimit")

    def test_deleted_region(self) -> None:
        """Who has it keeps to it, newcomers get nothing, and the plugin says that it is gone."""
        before = self.taker("dlopen")
        self.region.unlink()
        self.assertEqual(before.said, CLOSED)
        self.assertEqual(self.taker("dlopen").said, "0 2\n")
        self.assertEqual(self.audit(), ["unreadable", "fits"])

    def test_truncated_region(self) -> None:
        """Newcomers get nothing; whoever has it mapped ends at its next call."""
        before = self.taker("dlopen")
        os.truncate(self.region, 0)
        self.assertEqual(self.taker("dlopen").said, "0 2\n")
        self.assertEqual(self.audit(), ["unreadable", "fits"])
        self.assertEqual(before.said, CLOSED)

    def test_killed_process(self) -> None:
        """Its bytes are free in the region and with the driver."""
        killed = self.taker("dlopen")
        killed.process.send_signal(signal.SIGKILL)
        killed.process.wait()
        self.assertEqual(self.taker("dlopen").said, CLOSED)
        self.assertEqual(self.audit(), ["fits"])


if __name__ == "__main__":
    unittest.main()
