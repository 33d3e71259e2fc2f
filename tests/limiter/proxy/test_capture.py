# SPDX-License-Identifier: Apache-2.0
"""S3: each way in which a program finds the driver leads to the proxy, and through it to the driver."""

import os
import shutil
import unittest

from tests.limiter.container import Container, libraries, scratch, test_program
from tests.limiter.proxy import driver_data
from tests.limiter.proxy.driver_case import ALIAS, CUDA, FIRST_NUMBER, NO_DEVICE, NVML, REPLAYED, replay

NUMBER = FIRST_NUMBER + driver_data.exports("cuda_exports.txt", 555).index("cuProfilerStart")
CAUGHT = f"libgpupool-vgpu.so {NUMBER}\n"
LOADER = "/lib64/ld-linux-x86-64.so.2"
NOBODY = "65534"


class Capture(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = scratch()
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)
        self.env = {"LD_LIBRARY_PATH": replay(555)}
        self.cached = Container(library_folders=[replay(555)])

    def find(self, *arguments: str, container: Container | None = None, env: dict[str, str] | None = None) -> str:
        return (container or Container()).output(test_program("find-driver"), *arguments, env=self.env if env is None else env)

    def test_without_the_limiter(self) -> None:
        """What these programs say then: the other tests can fail."""
        self.assertEqual(self.find("dlopen", container=Container(preload=[])), f"{REPLAYED} {NUMBER}\n")

    def test_dlopen(self) -> None:
        self.assertEqual(self.find("dlopen"), CAUGHT)

    def test_deepbind(self) -> None:
        self.assertEqual(self.find("deepbind"), CAUGHT)

    def test_noload(self) -> None:
        self.assertEqual(self.find("noload"), CAUGHT)

    def test_global_scope(self) -> None:
        self.assertEqual(self.find("default"), CAUGHT)

    def test_unversioned_name(self) -> None:
        self.assertEqual(self.find("unversioned"), CAUGHT)
        without = self.find("unversioned", container=Container(preload=[CUDA]), env={"LD_LIBRARY_PATH": str(self.folder)})
        self.assertTrue(without.startswith("none"), "the alias is what finds it: " + without)

    def test_linked_program(self) -> None:
        self.assertEqual(Container().output(test_program("linked-driver"), env=self.env), CAUGHT)

    def test_loader_cache(self) -> None:
        self.assertEqual(self.find("dlopen", container=self.cached, env={}), CAUGHT)

    def test_search_path_wins_over_the_cache(self) -> None:
        """cuda-compat is found this way."""
        number = FIRST_NUMBER + driver_data.exports("cuda_exports.txt", 470).index("cuProfilerStart")
        self.assertNotEqual(number, NUMBER)
        self.assertEqual(self.find("dlopen", container=self.cached, env={"LD_LIBRARY_PATH": f"/nowhere:{replay(470)}"}),
                         f"libgpupool-vgpu.so {number}\n")

    def test_empty_environment(self) -> None:
        self.assertEqual(self.cached.output("/usr/bin/env", "-i", test_program("find-driver"), "dlopen"), CAUGHT)
        self.assertEqual(self.cached.output("/usr/bin/env", "-i", "LD_PRELOAD=", test_program("find-driver"), "dlopen"), CAUGHT)

    def test_setuid(self) -> None:
        """And LD_LIBRARY_PATH of whoever starts it is not believed, as by the loader."""
        program = self.folder / "find-driver"
        shutil.copy(test_program("find-driver"), program)
        os.chown(program, 0, 0)
        program.chmod(0o4755)
        readable = self.folder / "lib"
        shutil.copytree(replay(555), readable)
        own = [shutil.copy(path, self.folder) for path in libraries()]
        container = Container(preload=own, library_folders=[str(readable)])
        output = container.output("/usr/bin/setpriv", f"--reuid={NOBODY}", "--clear-groups", str(program), "dlopen",
                                  env={"LD_LIBRARY_PATH": replay(470)})
        self.assertEqual(output, CAUGHT)

    def test_copied_loader(self) -> None:
        loader = shutil.copy(LOADER, self.folder / "loader")
        output = Container().output(str(loader), test_program("find-driver"), "dlopen", env=self.env)
        self.assertEqual(output, CAUGHT)

    def test_absolute_path_under_a_mount(self) -> None:
        """Our file over the driver's path: the driver is then found by its version, or in the folder for it."""
        driver = self.folder / "driver"
        driver.mkdir()
        shutil.copy(f"{replay(555)}/{REPLAYED}", driver / "libcuda.so.555.58.02")
        shutil.copy(f"{replay(555)}/{REPLAYED}", driver / REPLAYED)
        path = str(driver / REPLAYED)
        covered = Container(mounts={path: CUDA}, library_folders=[str(driver)])
        self.assertEqual(self.find("path", path, container=covered, env={}), CAUGHT)
        self.assertEqual(self.find("dlopen", container=covered, env={}), CAUGHT)

    def test_never_finds_itself(self) -> None:
        """By its name, a link or a copy: then there is no driver, and no loop."""
        shutil.copy(CUDA, self.folder / REPLAYED)
        self.assertEqual(self.find("dlopen", env={"LD_LIBRARY_PATH": str(self.folder)}), f"libgpupool-vgpu.so {NO_DEVICE}\n")
        (self.folder / REPLAYED).unlink()
        (self.folder / REPLAYED).symlink_to(CUDA)
        self.assertEqual(self.find("dlopen", env={"LD_LIBRARY_PATH": str(self.folder)}), f"libgpupool-vgpu.so {NO_DEVICE}\n")
        self.assertEqual(self.find("dlopen", env={"LD_LIBRARY_PATH": f"{self.folder}:{replay(555)}"}), CAUGHT)

    def test_broken_files_are_passed_over(self) -> None:
        (self.folder / REPLAYED).write_bytes(b"\x7fELF" + bytes(200))
        self.assertEqual(self.find("dlopen", env={"LD_LIBRARY_PATH": f"{self.folder}:{replay(555)}"}), CAUGHT)

    def test_nvml(self) -> None:
        done = Container().output("/usr/bin/python3", "-c", "import ctypes\nlibrary = ctypes.CDLL('libnvidia-ml.so.1')\n"
                                  "library.nvmlErrorString.restype = ctypes.c_char_p\n"
                                  "print(library.nvmlInit_v2(), library.nvmlErrorString(12).decode())\n"
                                  f"print({NVML!r} in open('/proc/self/maps').read())")
        self.assertEqual(done, "12 NVML Shared Library Not Found\nTrue\n")

    def test_alias_alone_needs_the_proxy(self) -> None:
        self.assertNotEqual(Container(preload=[ALIAS]).run("/bin/true").returncode, 0)


if __name__ == "__main__":
    unittest.main()
