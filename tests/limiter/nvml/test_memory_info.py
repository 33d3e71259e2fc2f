# SPDX-License-Identifier: Apache-2.0
"""M8, NVML's part: a slice's total, used and free, of all processes of the container, and nothing else changed."""

import json
import shutil
import unittest
import zlib

from tests.kit.paths import build_folder
from tests.limiter.container import Container, scratch, test_program

MIB = 1 << 20
PHYSICAL = 40000
UUIDS = [f"GPU-00000000-0000-0000-0000-00000000000{number}" for number in range(3)]
VERSION_MISMATCH = "25"


def limits_file(*lines: str) -> str:
    text = "gpupool-limits 1\n" + "".join(line + "\n" for line in lines)
    return text + f"crc32 {zlib.crc32(text.encode()):08x}\n"


class MemoryInfo(unittest.TestCase):
    def setUp(self) -> None:
        folder = scratch()
        self.addCleanup(shutil.rmtree, folder)
        self.world = folder / "world.json"
        self.play(used=1000)
        self.env = {"GPUPOOL_FAKE_NVML": str(self.world), "LD_LIBRARY_PATH": str(build_folder() / "lib")}
        self.limits = limits_file(f"device 0 {UUIDS[1]} 8192 20 0", f"device 1 {UUIDS[0]} - - 0")

    def play(self, used: int) -> None:
        self.world.write_text(json.dumps({"node": "n", "gpus": [
            {"uuid": uuid, "model": "Test", "memoryMiB": PHYSICAL, "computeCapability": "9.0", "usedMiB": used}
            for uuid in UUIDS]}), encoding="utf-8")

    def say(self, *use: str, container: Container | None = None, program: str = "") -> dict[str, list[str]]:
        """{UUID: what is printed after it} while the container uses this."""
        command = [test_program("use-slice"), *use, "--"] if use else []
        container = container or Container(files={"/etc/gpupool/limits": self.limits})
        output = container.output(*command, program or test_program("say-memory"), env=self.env)
        return {line.split()[0]: line.split()[1:] for line in output.splitlines()}

    def sizes(self, total: int, free: int, used: int) -> list[str]:
        """Both forms, in MiB; nothing is reserved."""
        words = ["0", *(str(size * MIB) for size in (total, free, used))]
        return [*words, *words, "0", VERSION_MISMATCH]

    def test_without_limits(self) -> None:
        self.assertEqual(self.say(container=Container()),
                         {uuid: self.sizes(PHYSICAL, PHYSICAL - 1000, 1000) for uuid in UUIDS})
        self.assertEqual(self.say(container=Container()), self.say(container=Container(preload=[])))

    def test_slice(self) -> None:
        """By UUID; GPUs without a limit, or not named, as they are."""
        said = self.say("3072")
        self.assertEqual(said[UUIDS[1]], self.sizes(8192, 5120, 3072))
        for uuid in (UUIDS[0], UUIDS[2]):
            self.assertEqual(said[uuid], self.sizes(PHYSICAL, PHYSICAL - 1000, 1000))

    def test_of_the_process_itself(self) -> None:
        """What it uses itself counts, and it keeps its slot: NVML's part reads the region by a descriptor of its own."""
        self.assertEqual(self.say("3072", program="itself"), self.say("3072"))

    def test_after_all_descriptors_are_closed(self) -> None:
        """As daemons do. The region is found again, and others' descriptors are left alone."""
        container = Container(files={"/etc/gpupool/limits": self.limits})
        output = container.output(test_program("use-slice"), "3072", "--", test_program("say-memory"), "again", env=self.env)
        lines = output.splitlines()
        self.assertEqual(lines[:3], lines[3:])
        self.assertEqual(lines[1].split()[1:], self.sizes(8192, 5120, 3072))

    def test_dead_processes_use_nothing(self) -> None:
        self.assertEqual(self.say("dead")[UUIDS[1]], self.sizes(8192, 8192, 0))

    def test_full_gpu(self) -> None:
        """Neighbours have taken it: less is free than the slice would allow."""
        self.play(used=PHYSICAL - 100)
        self.assertEqual(self.say("1024")[UUIDS[1]], self.sizes(8192, 100, 8092))

    def test_limit_above_the_gpu(self) -> None:
        self.limits = limits_file(f"device 0 {UUIDS[1]} 90000 - 0")
        self.assertEqual(self.say("512")[UUIDS[1]], self.sizes(PHYSICAL, PHYSICAL - 1000, 1000))

    def test_no_region(self) -> None:
        """Every allocation is refused, so nothing is free."""
        self.assertEqual(self.say()[UUIDS[1]], self.sizes(8192, 0, 8192))

    def test_bad_limits(self) -> None:
        self.limits = "nonsense\n"
        self.assertEqual(self.say()[UUIDS[0]], self.sizes(0, 0, 0))


if __name__ == "__main__":
    unittest.main()
