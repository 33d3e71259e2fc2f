# SPDX-License-Identifier: Apache-2.0
"""R4: programs of Debian, as they are, on the fake driver: they run within a slice, and get out-of-memory at its limit."""

import re
import subprocess
import unittest
from pathlib import Path

from tests.kit.paths import build_folder
from tests.limiter.container import Container, test_program
from tests.limiter.cuda.cuda_case import CONTEXT, UUIDS, WITH_NVML, CudaCase

LIMIT = 512
PIECE = 16  # MiB that programs ask for at a time
PYTHON = "/usr/bin/python3"  # Debian's
HERE = Path(__file__).parent
# These look for the newest form of each name; older drivers do not have all of them.
OLD_DRIVER = f"{build_folder()}/lib/fake-cuda-550:{build_folder()}/lib"
OUT_OF_MEMORY = "CUDA_ERROR_OUT_OF_MEMORY"


class Programs(CudaCase):
    def program(self, container: Container, *command: str, **env: str) -> subprocess.CompletedProcess[str]:
        return container.run(test_program("use-slice"), "--", *command,
                             env={**self.env, "LD_LIBRARY_PATH": WITH_NVML, "PATH": "/usr/bin:/bin", **env})

    def slice(self, mib: int = LIMIT) -> Container:
        return self.container(mib, None)

    def test_nvptx_arch(self) -> None:
        """Clang's question for the devices that it compiles for."""
        done = self.program(self.slice(), "/usr/bin/nvptx-arch-19")
        self.assertEqual((done.returncode, done.stdout), (0, "sm_90\n" * len(UUIDS)), done.stderr)

    def frames(self, container: Container, *filters: str) -> subprocess.CompletedProcess[str]:
        chain = ",".join(["format=nv12", *filters, "format=nv12"])
        return self.program(container, "/usr/bin/ffmpeg", "-hide_banner", "-loglevel", "error", "-init_hw_device", "cuda=gpu",
                            "-filter_hw_device", "gpu", "-f", "lavfi", "-i", "testsrc=size=1920x1080:rate=25:duration=0.4",
                            "-vf", chain, "-f", "framemd5", "-")

    def test_ffmpeg(self) -> None:
        """The frames that went through the device are those that did not."""
        done, plain = self.frames(self.slice(), "hwupload_cuda", "hwdownload"), self.frames(self.slice())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(re.findall(r"^0,", done.stdout, re.MULTILINE)), 10)
        self.assertEqual(done.stdout, plain.stdout)

    def test_ffmpeg_without_room(self) -> None:
        """It makes two contexts; there is no room for a frame."""
        done = self.frames(self.slice(2 * CONTEXT + 2), "hwupload_cuda", "hwdownload")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f"cu->cuMemAlloc(&data, size) failed -> {OUT_OF_MEMORY}", done.stderr)

    def test_numba(self) -> None:
        """It loads libcuda.so, and takes the newest form of each name that it finds."""
        done = self.program(self.slice(), PYTHON, str(HERE / "numba_arrays.py"), LD_LIBRARY_PATH=OLD_DRIVER)
        self.assertEqual(done.returncode, 0, done.stderr)
        total, held, error = done.stdout.split(" ", 2)
        self.assertEqual(int(total), LIMIT)
        self.assertIn(int(held), (LIMIT - CONTEXT - PIECE, LIMIT - CONTEXT))  # a freed array may still be there
        self.assertIn(OUT_OF_MEMORY, error)

    def test_openmp(self) -> None:
        """Target regions of GCC's OpenMP; the code of one takes a part of a piece."""
        binary = str(self.folder / "offload")
        subprocess.run(["/usr/bin/gcc-12", "-fopenmp", "-foffload=nvptx-none", "-O1", str(HERE / "offload.c"), "-o", binary],
                       check=True, env={"PATH": "/usr/bin:/bin"}, stderr=subprocess.DEVNULL, cwd=self.folder)
        done = self.program(self.slice(), binary, OMP_TARGET_OFFLOAD="mandatory")
        self.assertEqual((done.returncode, done.stdout), (0, f"2 devices, {LIMIT - CONTEXT - PIECE} MiB\n"), done.stderr)


if __name__ == "__main__":
    unittest.main()
