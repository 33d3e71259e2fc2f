# SPDX-License-Identifier: Apache-2.0
"""Every byte is stored once, whoever is killed."""

import os
import re
import time

from tests.keeper.keeper_case import KeeperCase
from tests.kit.waiting import wait_for

LAUNCHERS = int(os.environ.get("KEEPER_LAUNCHERS", "1000"))
KILLS = int(os.environ.get("KEEPER_KILLS", "20"))
# Prints 100 lines a second until a file is there. In Perl, of which a thousand may run.
TALKER = r"""
use Time::HiRes qw(time sleep);
my ($name, $stop) = @ARGV;
my ($begin, $n) = (time, 0);
$| = 1;
while (!-e $stop) {
  my ($due, $text) = (int((time - $begin) * 100), "");
  for (; $n < $due; $n++) { $text .= "$name line $n " . "x" x ($n % 80) . "\n"; }
  print $text;
  sleep(0.1);
}
"""


def lines_of(name: str, count: int) -> str:
    return "".join(f"{name} line {n} " + "x" * (n % 80) + "\n" for n in range(count))


class KillTest(KeeperCase):
    def test_the_keeper_is_killed(self) -> None:
        folder, uid = self.folder(), self.uid()
        stop = f"{folder}/stop"
        started = [self.launcher(uid, ["/usr/bin/perl", "-e", TALKER, f"rank-{rank}", stop], rank=rank, ranks=LAUNCHERS,
                                 folder=f"{folder}/{rank}") for rank in range(LAUNCHERS)]
        for kill in range(KILLS):
            # Different moments: while launchers connect, while they send, while the disk is synced.
            time.sleep(0.1 + 0.4 * (kill % 5) / 5)
            self.keeper.kill()
            self.keeper.start()
        with open(stop, "w", encoding="utf-8"):
            pass
        for launcher in started:
            self.assertEqual(launcher.process.wait(300), 0, launcher.stderr())
            # All ended in one moment: for some the keeper had no time within 0.5 s. As a kubelet does:
            while os.path.exists(f"{launcher.folder}/log-spool"):
                launcher.start()
                self.assertEqual(launcher.process.wait(300), 0, launcher.stderr())
        wait_for("the end of all ranks", lambda: "end" in self.keeper.attempts(self.token, self.ns, uid=uid)[0], detail=self.keeper.log)
        for rank, launcher in enumerate(started):
            printed = launcher.stdout()
            self.assertEqual(printed, lines_of(f"rank-{rank}", printed.count("\n")))
            self.assertGreater(printed.count("\n"), 100)
            self.assertEqual(self.keeper.output(self.token, self.ns, uid, rank=rank), printed, f"rank {rank}")
        attempt = self.keeper.attempts(self.token, self.ns, uid=uid)[0]
        self.assertEqual((attempt["outcome"], attempt["exitCode"], attempt["lost"], attempt["ranks"]), ("exited", 0, 0, LAUNCHERS))

    def test_a_launcher_is_killed(self) -> None:
        """What it has relayed is in its spool: the next start sends it."""
        folder = self.folder()
        for kill in range(5):
            with self.subTest(kill=kill):
                uid = self.uid()
                launcher = self.launcher(uid, ["/usr/bin/perl", "-e", TALKER, "rank-0", f"{folder}/never"],
                                         folder=f"{folder}/{kill}", flags=("--hold-seconds=1",))
                wait_for("output", lambda: launcher.stdout().count("\n") > 20 * (kill + 1))
                if kill % 2:
                    self.keeper.kill()  # it has nothing of the last moment then
                time.sleep(0.05)
                launcher.kill()
                if kill % 2:
                    self.keeper.start()
                launcher.start()
                self.assertEqual(launcher.process.wait(60), 1, launcher.stderr())
                wait_for("the end", lambda: "end" in self.keeper.attempts(self.token, self.ns, uid=uid)[0])
                stored, printed = self.keeper.output(self.token, self.ns, uid), launcher.stdout()
                self.assertEqual(lines_of("rank-0", stored.count("\n") + 1)[:len(stored)], stored)
                self.assertGreaterEqual(len(stored), len(printed))
                attempt = self.keeper.attempts(self.token, self.ns, uid=uid)[0]
                self.assertEqual((attempt["outcome"], attempt["lost"]), ("interrupted", 0))
                self.assertFalse(os.path.exists(f"{folder}/{kill}/log-spool"))

    def test_a_keeper_that_is_away_costs_the_oldest_output(self) -> None:
        """More than the spool holds is printed meanwhile: what is lost is counted, and the rest is exact."""
        uid, folder = self.uid(), self.folder()
        self.keeper.kill()
        # 24 MiB of lines; then it goes on until the keeper is back.
        script = ("i=0; while [ $i -lt 24 ]; do seq -f '%.0f abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz' 100001 117660; i=$((i+1)); done; "
                  f"touch {folder}/printed; while [ ! -e {folder}/stop ]; do sleep 0.1; done; echo the last line")
        launcher = self.launcher(uid, ["sh", "-c", script], folder=f"{folder}/state")
        wait_for("all output", lambda: os.path.exists(f"{folder}/printed"))
        self.assertLess(os.path.getsize(f"{folder}/state/log-spool"), 17 << 20)
        self.keeper.start()
        with open(f"{folder}/stop", "w", encoding="utf-8"):
            pass
        self.assertEqual(launcher.process.wait(60), 0)
        wait_for("the end", lambda: "end" in self.keeper.attempts(self.token, self.ns, uid=uid)[0])
        lost = self.assert_exact_but_for_losses(self.keeper.output(self.token, self.ns, uid), launcher.stdout())
        self.assertGreater(lost, 4 << 20)
        self.assertEqual(self.keeper.attempts(self.token, self.ns, uid=uid)[0]["lost"], lost)

    def test_a_rank_of_100_mb_a_second(self) -> None:
        """It costs the others nothing; its first output and its last are there, what is left out is counted."""
        uid, folder = self.uid(), self.folder()
        quiet = self.launcher(self.uid(), ["sh", "-c", f"while [ ! -e {folder}/stop ]; do echo a line; sleep 0.1; done"])
        loud = self.launcher(uid, ["sh", "-c", "seq -f 'line %.0f abcdefghijklmnopqrstuvwxyz abcdefghijklmnopqrstuvwxyz' 100000001 103000000"])
        self.assertEqual(loud.process.wait(120), 0)
        with open(f"{folder}/stop", "w", encoding="utf-8"):
            pass
        self.assertEqual(quiet.process.wait(60), 0)
        wait_for("the end", lambda: "end" in self.keeper.attempts(self.token, self.ns, uid=uid)[0])
        stored = self.keeper.output(self.token, self.ns, uid)
        lost = self.assert_exact_but_for_losses(stored, loud.stdout())
        self.assertEqual(self.keeper.attempts(self.token, self.ns, uid=uid)[0]["lost"], lost)
        self.assertTrue(stored.startswith("line 100000001 "))
        self.assertIn("\nline 103000000 ", stored)
        self.assertGreater(lost, 100 << 20)
        self.assertGreater(len(stored), 8 << 20)
        self.assertLess(len(stored), 32 << 20)

    def assert_exact_but_for_losses(self, stored: str, printed: str) -> int:
        """The number of bytes that are lost."""
        places, lost = {0}, 0
        for part in re.split(r"(\n?\[gpupool: \d+ bytes of the output were lost here\]\n)", stored):
            note = re.fullmatch(r"\n?\[gpupool: (\d+) bytes of the output were lost here\]\n", part)
            if note is None:
                places = {at + len(part) for at in places if printed.startswith(part, at)}
                self.assertTrue(places, part[:200])
                continue
            # The line end before a note is one of the output, or that of a line which the loss has cut.
            before = {0, 1} if part[0] == "\n" else {0}
            places = {at + own + int(note.group(1)) for at in places for own in before if not own or printed[at:at + 1] == "\n"}
            lost += int(note.group(1))
        self.assertIn(len(printed), places)
        return lost
