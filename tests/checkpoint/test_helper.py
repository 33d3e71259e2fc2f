# SPDX-License-Identifier: Apache-2.0
"""examples/checkpoint/gpupool_checkpoint.py, as programs of one or more processes use it."""

import ast
import re
import signal
import time
import unittest

from tests.checkpoint.program_case import FOLDER, ProgramCase

BEGIN = """
import os, sys, time
from gpupool_checkpoint import Checkpoints
saves = Checkpoints()
def write(path):
    with open(path, "w") as file: file.write(str(os.environ["GPUPOOL_ATTEMPT"]))
"""
GANG = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
"""


class HelperTest(ProgramCase):
    def run_program(self, text, code=0, **options):
        return self.end(self.start(BEGIN + text, **options), code)

    def test_nothing_happens_outside_of_gpupool(self):
        without = {f"GPUPOOL_{name}": "" for name in ("CHECKPOINT_DIR", "RESUME", "NOTICE_FILE", "GRACE_SECONDS", "REPORT_FILE")}
        shown = self.run_program("""
import signal
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
os.chdir(os.environ["EMPTY"])
saves.save(1, write); saves.report(1)
print(saves.should_stop(), saves.latest(), saves.resume, saves.grace_seconds, os.listdir("."))
saves = Checkpoints("here"); saves.save(7, write)
print(saves.latest(), os.listdir("."))
""", EMPTY=self.rank_folder("empty", 0), **without)
        self.assertEqual("False None False 0 []\n(7, 'here/step-7') ['here']\n", shown)

    def test_what_gpupool_says_is_known(self):
        self.assertEqual("False 30\n", self.run_program("print(saves.resume, saves.grace_seconds)"))
        self.assertEqual("True 30\n", self.run_program("print(saves.resume, saves.grace_seconds)", attempt=1))

    def test_notice(self):
        (program,) = self.start(BEGIN + "print(saves.should_stop(), flush=True)\nwhile not saves.should_stop(): time.sleep(0.01)")
        self.assertEqual("False\n", program.stdout.readline())
        self.give_notice(0, 0)
        self.end([program])

    def test_sigterm_is_remembered_and_ends_nothing(self):
        (program,) = self.start(BEGIN + """
child = os.fork()
if child == 0:
    print("forked", flush=True)
    time.sleep(60)
    os._exit(0)
while not saves.should_stop(): time.sleep(0.01)
import signal
os.kill(child, signal.SIGTERM)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
saves.save(3, write)
""")
        self.assertEqual("forked\n", program.stdout.readline())
        program.send_signal(signal.SIGTERM)
        self.assertEqual("-15\n", self.end([program]), "a process that was forked off ends by the signal")
        self.assertEqual({"step": 3, "path": "step-3"}, self.report(0, 0))

    def test_the_newest_stay(self):
        shown = self.run_program("""
for step in (5, 10, 15): saves.save(step, write)
print(saves.latest())
saves.save(20, write, keep=3)
""")
        self.assertEqual(f"(15, '{self.checkpoints}/step-15')\n", shown)
        self.assertEqual(["step-10", "step-15", "step-20"], self.saved())
        self.assertEqual({"step": 20, "path": "step-20"}, self.report(0, 0))

    def test_a_program_that_begins_anew_keeps_what_it_saves(self):
        self.run_program("for step in (100, 200): saves.save(step, write)")
        self.run_program("for step in (5, 10, 15): saves.save(step, write)")
        self.assertEqual(["step-10", "step-100", "step-15", "step-200"], self.saved())

    def test_a_step_that_is_saved_already(self):
        self.run_program("saves.save(5, write)")
        self.run_program("saves.save(5, write)", attempt=1)
        self.assertEqual("1", (self.checkpoints / "step-5").read_text())
        self.run_program("saves.save(5, write); saves.save(5, lambda path: sys.exit('written twice'))", attempt=2)
        self.assertEqual("2", (self.checkpoints / "step-5").read_text())

    def test_a_directory(self):
        write = """
def write(path):
    os.makedirs(path + "/deep", exist_ok=True)
    with open(path + "/deep/file", "w") as file: file.write(str(os.environ["GPUPOOL_ATTEMPT"]))
"""
        for attempt in (0, 1):
            self.run_program(write + "saves.save(5, write); saves.save(6, write)", attempt=attempt)
            self.assertEqual(["step-5", "step-6"], self.saved())
            self.assertEqual(str(attempt), (self.checkpoints / "step-5/deep/file").read_text())
        self.run_program(write + "saves.save(7, write)")
        self.assertEqual(["step-6", "step-7"], self.saved())

    def test_killed_while_it_writes(self):
        (program,) = self.start(BEGIN + """
saves.save(5, write)
def write_half(path):
    write(path)
    print("half", flush=True)
    time.sleep(60)
saves.save(10, write_half)
""")
        self.assertEqual("half\n", program.stdout.readline())
        program.kill()
        self.end([program], -signal.SIGKILL)
        self.assertEqual({"step": 5, "path": "step-5"}, self.report(0, 0))
        self.assertEqual(["part-0-10", "step-5"], self.saved())
        (self.checkpoints / "step-x").mkdir()
        (self.checkpoints / "step-99.old").touch()
        shown = self.run_program("print(saves.latest()[0])\nsaves.save(12, write)", attempt=1)
        self.assertEqual("5\n", shown)
        self.assertEqual(["step-12", "step-5", "step-99.old", "step-x"], self.saved(), "what is torn is removed, no more")

    def test_a_process_of_an_earlier_attempt_that_still_writes(self):
        (old,) = self.start(BEGIN + """
def slowly(path):
    with open(path, "w") as file:
        print("begun", flush=True)
        while not os.path.exists(os.environ["GPUPOOL_NOTICE_FILE"]): time.sleep(0.01)
        file.write("old")
saves.save(10, slowly)
""")
        self.assertEqual("begun\n", old.stdout.readline())
        self.run_program("saves.save(10, write)", attempt=1)
        self.give_notice(0, 0)
        self.assertIn("FileNotFoundError", self.end([old], 1))
        self.assertEqual("1", (self.checkpoints / "step-10").read_text())

    def test_it_is_on_the_disk_before_it_has_its_name(self):
        shown = self.run_program("""
def tell(call):
    real = getattr(os, call)
    def told(*paths):
        print(call, *(os.path.basename(os.readlink(f"/proc/self/fd/{p}") if type(p) is int else p) for p in paths))
        return real(*paths)
    setattr(os, call, told)
tell("fsync"); tell("replace")
def folder(path):
    os.mkdir(path)
    write(path + "/file")
saves.save(5, folder)
""")
        self.assertEqual(["fsync file", "fsync part-0-5", "replace part-0-5 step-5", "fsync checkpoints"],
                         [line for line in shown.splitlines() if "report" not in line])

    def test_a_write_that_fails(self):
        shown = self.run_program("""
saves.save(5, write)
def fail(path):
    write(path)
    raise OSError("disk full")
try: saves.save(10, fail)
except OSError as error: print(error)
print(saves.latest()[0])
""")
        self.assertEqual("disk full\n5\n", shown)
        self.assertEqual((["step-5"], 5), (self.saved(), self.report(0, 0)["step"]))

    def test_reports(self):
        for path, told in (("'x' * 256", "x" * 256), ("'x' * 257", ""), ("'\u00e4' * 100", "")):
            self.run_program(f"saves.report(2 ** 53, {path})")
            self.assertEqual({"step": 2 ** 53, "path": told}, self.report(0, 0), "a path that is too long is left out")
        shown = self.run_program("saves.report(4)", GPUPOOL_REPORT_FILE=self.folder / "missing" / "report.json")
        self.assertRegex(shown, "^step 4 is saved, and cannot be reported: .*No such file")

    def test_python_3_8_can_read_it(self):
        ast.parse((FOLDER / "gpupool_checkpoint.py").read_text(encoding="utf-8"), feature_version=(3, 8))


class GangTest(ProgramCase):
    def test_all_stop_at_the_same_step(self):
        """The notice comes to one rank alone, and the ranks are not in step with each other."""
        programs = self.start(BEGIN + GANG + """
for step in range(1, 10_000_000):
    time.sleep(0.001 * (step * (rank + 1) % 3))
    if saves.should_stop(): break
    if step == 1: print("running", flush=True)
assert saves.should_stop()
saves.save(step, write)
print("stopped at", step)
dist.barrier()
""", ranks=3)
        for program in programs:
            self.assertEqual("running\n", program.stdout.readline())
        time.sleep(0.2)
        self.give_notice(0, 1)
        steps = re.findall(r"stopped at (\d+)", self.end(programs))
        self.assertEqual((3, 1), (len(steps), len(set(steps))), self.output)
        for rank in range(3):
            self.assertEqual({"step": int(steps[0]), "path": f"step-{steps[0]}"}, self.report(0, rank))
        self.assertEqual([f"step-{steps[0]}"], self.saved())

    def test_every_rank_writes_its_part_or_none_is_saved(self):
        shown = self.end(self.start(BEGIN + GANG + """
def part(path):
    os.makedirs(path, exist_ok=True)
    write(path + "/" + str(rank))
saves.save(5, part, every_rank=True)
def fail_on_one(path):
    part(path)
    if rank == 1: raise ValueError("rank 1")
try: saves.save(10, fail_on_one, every_rank=True)
except Exception as error: print(rank, type(error).__name__, flush=True)
print(rank, "goes on from", saves.latest()[0], flush=True)
dist.barrier()
""", ranks=2))
        self.assertEqual({"0 RuntimeError", "1 ValueError", "0 goes on from 5", "1 goes on from 5"}, set(shown.splitlines()))
        self.assertEqual(["step-5"], self.saved())
        self.assertEqual({"0", "1"}, {path.name for path in (self.checkpoints / "step-5").iterdir()})
        self.assertEqual([5, 5], [self.report(0, rank)["step"] for rank in (0, 1)])

    def test_the_newest_that_any_rank_sees(self):
        """Rank 1 sees the directory of rank 0 later, as on a network file system."""
        self.checkpoints.mkdir()
        (self.checkpoints / "step-7").touch()
        programs = self.start(BEGIN + GANG + """
seen, looks = saves._steps, []
saves._steps = lambda: looks.append(1) or (seen() if rank == 0 or len(looks) > 2 else [3])
print(rank, saves.latest()[0], len(looks), flush=True)
dist.barrier()
""", ranks=2)
        self.assertEqual({"0 7 2", "1 7 3"}, set(self.end(programs).splitlines()))

    def test_several_ranks_without_a_process_group(self):
        (program,) = self.start(BEGIN + "saves.should_stop()", WORLD_SIZE=2)
        self.assertIn("RuntimeError: several ranks and no process group", self.end([program], 1))
        (program,) = self.start(BEGIN + "print(Checkpoints(agree=lambda number: 1).should_stop())", WORLD_SIZE=2)
        self.assertEqual("True\n", self.end([program]), "the caller's own way to agree")


if __name__ == "__main__":
    unittest.main()
