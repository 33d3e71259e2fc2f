# SPDX-License-Identifier: Apache-2.0
"""E1: each way past the limit of memory is either closed, or the device plugin's audit finds what it takes.

tests/limiter/README.md has the table. The GPU is tests/fake-cuda's, which counts by itself what each process holds.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import unittest
import zlib
from pathlib import Path

from tests.kit.paths import build_folder, program
from tests.limiter.container import Container, libraries, scratch, test_program

MIB = 1 << 20
UUID = "GPU-00000000-0000-0000-0000-000000000001"
MEMORY, CONTEXT, LIMIT, STEP = 2000, 100, 520, 50
CLOSED = f"{LIMIT - CONTEXT - 20} 2\n"  # what a program gets: whole steps, and then "out of memory"
OPEN = f"{MEMORY - CONTEXT} 2\n"  # all of the GPU
FAKE = [str(build_folder() / "lib" / "fake-cuda"), str(build_folder() / "lib")]
CUDA = libraries()[0]
DRIVER = f"{FAKE[0]}/libcuda.so.1"
NOBODY = "65534"


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

    def test_limits_file_cannot_be_written(self) -> None:
        """What the plugin mounts is read-only. If a program that may unmount it is without one, nothing is granted to it."""
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
