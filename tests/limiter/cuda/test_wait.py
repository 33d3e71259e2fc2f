# SPDX-License-Identifier: Apache-2.0
"""M12: the wait mode, between containers that share one GPU which has less than their slices together."""

import os
import struct
import subprocess
import time
import unittest
from pathlib import Path

from tests.limiter.container import Container, test_program
from tests.limiter.cuda.cuda_case import CudaCase, limits_file

PHYSICAL = 600  # MiB; three contexts take 192
SHORT, LONG = 1, 20  # seconds of the wait mode
AT_ONCE = 10_000  # milliseconds; far less than LONG
PATIENCE = 30
# Of layout.h: the record of the first device, and what the plugin reads and writes in it.
RECORD = 808
WAITING_BYTES, WAITING_SINCE, TICKET, REFUSED = RECORD + 96, RECORD + 104, RECORD + 88, RECORD + 120


class Holder:
    """A container with one program, which holds memory and then asks for more or frees."""

    def __init__(self, case: CudaCase, number: int, hold: int, more: int, wait: int) -> None:
        self.folder = case.folder / str(number)
        self.folder.mkdir()
        container = Container(files={"/etc/gpupool/limits": limits_file(500, None, wait=wait)}, run_folder=str(self.folder))
        program = [test_program("use-slice"), "--", test_program("memory-cases"), "ask", str(hold), str(more)]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(container.command(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **case.env})
        case.addCleanup(self.end)

    @property
    def region(self) -> Path:
        return self.folder / "region"

    def say(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(word)
        self.process.stdin.flush()

    def hear(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.readline().split()

    def field(self, offset: int) -> int:
        return int(struct.unpack_from("<Q", self.region.read_bytes(), offset)[0])

    def until_it_waits(self) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.field(WAITING_BYTES) == 0:
            if time.monotonic() > deadline:
                raise AssertionError("nobody waits")
            time.sleep(0.005)  # the region is a file: there is no event

    def refuse(self) -> None:
        """As the device plugin does."""
        ticket = struct.pack("<Q", self.field(TICKET))
        with self.region.open("r+b") as file:
            file.seek(REFUSED)
            file.write(ticket)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE)


class Wait(CudaCase):
    def holders(self, *sizes: tuple[int, int], wait: int = LONG) -> list[Holder]:
        self.machine(PHYSICAL)
        found = [Holder(self, number, hold, more, wait) for number, (hold, more) in enumerate(sizes)]
        for holder in found:
            self.assertEqual(holder.hear(), ["holds"])
        return found

    def test_off(self) -> None:
        asks, _ = self.holders((100, 300), (200, 0), wait=0)
        asks.say("a")
        answer, milliseconds = asks.hear()
        self.assertEqual(answer, "refused")
        self.assertLess(int(milliseconds), AT_ONCE)

    def test_memory_comes_back(self) -> None:
        asks, frees = self.holders((100, 300), (200, 0))
        asks.say("a")
        asks.until_it_waits()
        frees.say("f")
        self.assertEqual(asks.hear()[0], "granted")
        self.assertEqual(asks.field(WAITING_BYTES), 0)

    def test_time_out(self) -> None:
        asks, _ = self.holders((100, 300), (200, 0), wait=SHORT)
        asks.say("a")
        answer, milliseconds = asks.hear()
        self.assertEqual(answer, "refused")
        self.assertGreaterEqual(int(milliseconds), SHORT * 1000)
        self.assertLess(int(milliseconds), AT_ONCE)

    def test_over_the_slice_does_not_wait(self) -> None:
        asks, _ = self.holders((100, 450), (200, 0))
        asks.say("a")
        answer, milliseconds = asks.hear()
        self.assertEqual(answer, "refused")
        self.assertLess(int(milliseconds), AT_ONCE)

    def test_three_holders_wait_and_one_is_refused(self) -> None:
        """The youngest gets out-of-memory as soon as the plugin says so; when it ends the others get theirs."""
        found = self.holders((100, 120), (100, 120), (100, 120))
        for holder in found:
            holder.say("a")
        for holder in found:
            holder.until_it_waits()
        youngest = max(found, key=lambda holder: holder.field(WAITING_SINCE))
        youngest.refuse()
        answer, milliseconds = youngest.hear()
        self.assertEqual(answer, "refused")
        self.assertLess(int(milliseconds), AT_ONCE)
        others = [holder for holder in found if holder is not youngest]
        self.assertEqual([holder.hear()[0] for holder in others], ["granted", "granted"])

    def test_three_holders_without_a_plugin(self) -> None:
        """Nobody decides: each gets out-of-memory at its time-out at the latest, and none hangs."""
        found = self.holders((100, 120), (100, 120), (100, 120), wait=SHORT)
        for holder in found:
            holder.say("a")
        answers = [holder.hear() for holder in found]
        self.assertIn("refused", [answer for answer, _ in answers])
        for _, milliseconds in answers:
            self.assertLess(int(milliseconds), AT_ONCE)


if __name__ == "__main__":
    unittest.main()
