# SPDX-License-Identifier: Apache-2.0
"""stdout and stderr pass untouched, and their last lines are in the result."""
import os
import signal
import subprocess
import sys

from tests.launcher.launcher_case import HANG_LIMIT, LauncherCase

TEN_MB = """
import os, random, sys, threading
def write(fd, seed):
    data = random.Random(seed).randbytes(10_000_000)
    while data: data = data[os.write(fd, data[:random.randint(1, 200_000)]):]
threads = [threading.Thread(target=write, args=(fd, fd)) for fd in (1, 2)]
for t in threads: t.start()
for t in threads: t.join()
"""


class Output(LauncherCase):
    def assert_ten_mb(self, fd, found):
        import random
        self.assertTrue(found == random.Random(fd).randbytes(10_000_000), f"stream {fd}: {len(found)} bytes differ")

    def test_ten_megabytes_on_both_streams(self):
        done = self.run_launcher(sys.executable, "-c", TEN_MB)
        self.assertEqual(done.returncode, 0)
        self.assert_ten_mb(1, done.stdout)
        self.assert_ten_mb(2, done.stderr)
        self.assert_result(outcome="exited", exitCode=0)

    def test_into_files(self):
        with open(self.dir / "1", "wb") as out, open(self.dir / "2", "wb") as err:
            self.run_launcher(sys.executable, "-c", TEN_MB, stdout=out, stderr=err)
        self.assert_ten_mb(1, (self.dir / "1").read_bytes())
        self.assert_ten_mb(2, (self.dir / "2").read_bytes())

    def test_arrives_before_the_command_ends(self):
        process = self.start("sh", "-c", "printf no-newline; read line; echo $line", stdin=subprocess.PIPE)
        self.assertEqual(os.read(process.stdout.fileno(), 100), b"no-newline")
        self.assertEqual(process.communicate(b"end\n", timeout=HANG_LIMIT)[0], b"end\n")

    def test_order_is_kept_where_both_streams_are_one(self):
        script = "for i in $(seq 500); do echo out $i; echo err $i >&2; done"
        done = self.run_launcher("sh", "-c", script, stderr=subprocess.STDOUT)
        self.assertEqual(done.stdout.decode(), "".join(f"out {i}\nerr {i}\n" for i in range(1, 501)))

    def test_tail_has_the_last_lines_of_both(self):
        process = self.start("sh", "-c", "seq 1000; read line; echo Traceback: bad >&2; exit 1", stdin=subprocess.PIPE)
        while process.stdout.readline() != b"1000\n":
            self.assertIsNone(process.poll())
        process.communicate(b"\n", timeout=HANG_LIMIT)
        tail = self.result()["tail"]
        self.assertTrue(tail.endswith("\n999\n1000\nTraceback: bad"), tail)
        self.assertGreater(len(tail), 1000)
        self.assertLessEqual(len(tail), 2048)

    def test_result_is_as_long_as_asked_for(self):
        for size in (128, 210, 300, 1536):
            self.setUp()
            flags = [f"--result-bytes={size}"]
            self.run_launcher("sh", "-c", "seq 1000; exit 3", flags=flags)
            result = self.assert_result(outcome="exited", exitCode=3)
            text = self.log.read_bytes()
            self.assertLessEqual(len(text), size)
            if size >= 210:
                self.assertRegex(result["tail"], r"(\A|\n)999\n1000\Z")
                self.assertGreater(len(text), size - 5)
            self.log.write_text("")
            self.assertEqual(self.run_launcher("true", flags=flags).returncode, 3)  # repeats what it stored
            self.assertEqual(self.log.read_bytes(), text)

    def test_tail_of_binary_output_is_valid(self):
        data = bytes(range(256)) * 100
        (self.dir / "data").write_bytes(data)
        done = self.run_launcher("cat", str(self.dir / "data"))
        self.assertEqual(done.stdout, data)
        self.assertIn("xyz", self.result()["tail"])

    def test_huge_line_without_an_end(self):
        done = self.run_launcher("sh", "-c", "head -c 5000000 /dev/zero | tr '\\0' x; printf END")
        self.assertEqual(len(done.stdout), 5_000_003)
        self.assertEqual(self.result()["tail"], "x" * 2045 + "END")

    def test_reader_that_went_away_ends_the_command_as_usual(self):
        process = self.start("yes")
        process.stdout.read(10)
        process.stdout.close()
        self.assertEqual(process.wait(HANG_LIMIT), 128 + signal.SIGPIPE)
        self.assert_result(outcome="signaled", signal=int(signal.SIGPIPE))
        process.stdout = None

    def test_full_disk_behind_stdout_does_not_end_the_command(self):
        with open("/dev/full", "wb") as full:
            done = self.run_launcher("sh", "-c", "head -c 300000 /dev/zero; echo end >&2; exit 4", stdout=full)
        self.assertEqual((done.returncode, done.stderr), (4, b"end\n"))

    def test_reader_that_stops_reading_loses_nothing_and_signals_pass(self):
        script = "trap 'exit 7' USR1; (trap '' USR1; head -c 2000000 /dev/zero) & echo ready >&2; wait; exit 1"
        process = self.start("sh", "-c", script)
        self.assertEqual(process.stderr.readline(), b"ready\n")
        process.send_signal(signal.SIGUSR1)
        while not self.stored():  # while nobody reads stdout
            self.assertIsNone(process.poll())
        self.assert_result(exitCode=7)
        out = process.communicate(timeout=HANG_LIMIT)[0]
        self.assertEqual(out, b"\0" * len(out))
        self.assertEqual(process.returncode, 7)

    def test_output_of_a_command_that_ended_waits_for_its_reader(self):
        process = self.start("sh", "-c", "head -c 120000 /dev/zero; echo ended >&2")
        self.assertEqual(process.stderr.readline(), b"ended\n")
        while not self.stored():
            self.assertIsNone(process.poll())
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.5)
        self.assertEqual(len(process.communicate(timeout=HANG_LIMIT)[0]), 120_000)
        self.assertEqual(process.returncode, 0)

    def test_closed_standard_streams(self):
        done = self.run_launcher("sh", "-c", "echo kept; exit 6", wrapper=["sh", "-c", 'exec "$@" >&- 2>&- <&-', "sh"])
        self.assertEqual(done.returncode, 6)
        self.assert_result(exitCode=6, tail="kept")

    def test_helper_process_that_outlives_the_command_a_little(self):
        done = self.run_launcher("bash", "-c", "exec > >(sed s/a/b/); echo aaa; exit 3")
        self.assertEqual((done.returncode, done.stdout), (3, b"baa\n"))
        self.assert_result(tail="baa")
