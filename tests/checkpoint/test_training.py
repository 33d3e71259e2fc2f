# SPDX-License-Identifier: Apache-2.0
"""The training of examples/checkpoint.yaml: interrupted in every way, it ends with the weights of an undisturbed run."""

import re
import shutil
import signal
import unittest

from tests.checkpoint.program_case import FOLDER, ProgramCase, wait_until

RANKS, STEPS, SAVE_EVERY = 2, 60, 10
DIGEST = re.compile(r"final weights SHA256=([0-9a-f]{64})$", re.M)
BEGINS = re.compile(r"begins at step (\d+)$", re.M)


class TrainingTest(ProgramCase):
    def attempt(self, number, pause=0.03):
        return self.start(FOLDER / "train.py", RANKS, number, STEPS=STEPS, SAVE_EVERY=SAVE_EVERY, STEP_SECONDS=pause)

    def begun_at(self):
        """The step at which all ranks of the attempt that has ended began."""
        steps = set(map(int, BEGINS.findall(self.output)))
        self.assertEqual(1, len(steps), self.output)
        return steps.pop()

    def reported(self, attempt):
        """The greatest step that a rank reported; 0 if none did."""
        return max((self.report(attempt, rank) or {"step": 0})["step"] for rank in range(RANKS))

    def wait_reported(self, attempt, step):
        wait_until(f"step {step} to be reported", lambda: self.reported(attempt) >= step)

    def digest(self):
        found = set(DIGEST.findall(self.output))
        self.assertEqual(1, len(found), self.output)
        return found.pop()

    def give_notice_to_all(self, attempt):
        for rank in range(RANKS):
            self.give_notice(attempt, rank)

    def test_same_weights_after_three_interruptions(self):
        self.end(self.attempt(0, pause=0))
        wanted = self.digest()
        shutil.rmtree(self.checkpoints)
        for rank in range(RANKS):
            (self.rank_folder(0, rank) / "report.json").unlink()

        told = self.attempt(0)  # a drain: the notice alone
        self.wait_reported(0, 10)
        self.give_notice_to_all(0)
        self.end(told)
        first = self.report(0, 0)["step"]
        self.assertLess(9, first)
        self.assertLess(first, STEPS)
        self.assertEqual((0, first), (self.begun_at(), self.report(0, 1)["step"]))

        lost = self.attempt(1)  # a node is lost
        self.wait_reported(1, first + 1)
        for process in lost:
            process.kill()
        self.end(lost, -signal.SIGKILL)
        self.assertEqual(first, self.begun_at())
        second = self.reported(1)
        self.assertLess(first, second)

        signaled = self.attempt(2)  # the notice, and the signal at once; to one rank later than to the other
        self.wait_reported(2, second + 1)
        for rank, process in enumerate(signaled):
            self.give_notice(2, rank)
            process.send_signal(signal.SIGTERM)
        self.end(signaled)
        self.assertGreaterEqual(self.begun_at(), second)
        third = self.report(2, 0)["step"]
        self.assertLess(second, third)
        self.assertLess(third, STEPS, "it was to be interrupted")

        self.end(self.attempt(3, pause=0))
        self.assertEqual((third, STEPS), (self.begun_at(), self.report(3, 0)["step"]))
        self.assertEqual(wanted, self.digest())
        self.end(self.attempt(4, pause=0))  # told to stop after its last step: it is run again, and has nothing to do
        self.assertEqual((STEPS, wanted), (self.begun_at(), self.digest()))

    def test_torchrun_ends_with_code_0_after_the_notice(self):
        """One launcher starts it, so its processes share the notice and the report."""
        (torchrun,) = self.start(FOLDER / "train.py", words=("-m", "torch.distributed.run", "--nproc_per_node=2", "--redirects=1",
                                                             "--tee=1"), STEPS=10_000, SAVE_EVERY=5, STEP_SECONDS=0.01)
        wait_until("a report", lambda: self.report(0, 0))
        self.give_notice(0, 0)
        self.end([torchrun])
        steps = set(map(int, re.findall(r"makes room after step (\d+)$", self.output, re.M)))
        self.assertEqual({self.report(0, 0)["step"]}, steps, self.output)


if __name__ == "__main__":
    unittest.main()
