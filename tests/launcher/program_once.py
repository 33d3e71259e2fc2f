# SPDX-License-Identifier: Apache-2.0
"""Exactly once: later starts in the same state directory."""
import json
import signal
import subprocess

from tests.launcher.launcher_case import LauncherCase

HOLD = ["--hold", "--hold-seconds=600"]  # longer than any test


class SecondStart(LauncherCase):
    def command(self, code):
        return ["sh", "-c", f"echo ran >> {self.dir}/runs; echo output; exit {code}"]

    def assert_stays(self, process):
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(0.5)

    def runs(self):
        path = self.dir / "runs"
        return path.read_text().count("ran") if path.exists() else 0

    def start_again(self, code, expected_runs):
        """Repeats the result twice, then once more with --hold, where it must wait for SIGTERM."""
        first = self.result()
        for _ in range(2):
            self.log.write_text("")
            done = self.run_launcher(*self.command(99))
            self.assertEqual(done.returncode, code)
            self.assertEqual(done.stdout, b"")
            self.assertEqual(self.result(), first)
        for stop in (signal.SIGTERM, signal.SIGINT):
            self.log.write_text("")
            holding = self.start(*self.command(99), flags=HOLD)
            self.assertIn(b"not run again", holding.stderr.readline())
            self.assertEqual(self.result(), first)
            holding.send_signal(signal.SIGUSR1)  # not a reason to leave
            self.assert_stays(holding)
            holding.send_signal(stop)
            self.assertEqual(holding.wait(30), code)
        self.assertEqual(self.runs(), expected_runs)

    def test_after_success(self):
        self.assertEqual(self.run_launcher(*self.command(0)).returncode, 0)
        self.assert_result(outcome="exited", exitCode=0, tail="output")
        self.start_again(0, 1)

    def test_after_failure(self):
        self.assertEqual(self.run_launcher(*self.command(17)).returncode, 17)
        self.assert_result(outcome="exited", exitCode=17, tail="output")
        self.start_again(17, 1)

    def test_first_start_ends_at_once_with_hold(self):
        done = self.run_launcher(*self.command(3), flags=["--hold"])
        self.assertEqual(done.returncode, 3)

    def test_after_command_not_found(self):
        self.assertEqual(self.run_launcher("no-such-command").returncode, 127)
        self.start_again(127, 0)

    def kill_while_running(self):
        process = self.start("sh", "-c", f"echo ran >> {self.dir}/runs; trap '' TERM; echo $$; exec sleep 1000")
        command = int(process.stdout.readline())
        process.terminate()  # ignored by the command; then the kubelet's patience ends
        self.kill_and_wait_for(process, command)

    def test_after_interruption(self):
        self.kill_while_running()
        self.assertEqual((self.state / "result.json").read_bytes(), b"")
        self.assertEqual(self.run_launcher(*self.command(99)).returncode, 1)
        result = self.assert_result(outcome="interrupted", exitCode=1, reason="Interrupted")
        self.assertRegex(result["startedAt"], r"\A\d{4}-.*Z\Z")
        self.start_again(1, 1)

    def test_after_interruption_with_hold(self):
        self.kill_while_running()
        holding = self.start(*self.command(99), flags=HOLD)
        self.assertIn(b"interrupted", holding.stderr.readline())
        self.assert_result(outcome="interrupted")
        self.assert_stays(holding)
        holding.terminate()
        self.assertEqual(holding.wait(30), 1)
        self.start_again(1, 1)

    def test_result_that_cannot_be_read_counts_as_interrupted(self):
        self.run_launcher(*self.command(0))
        (self.state / "result.json").write_text('{"version":1,"exitC')
        self.assertEqual(self.run_launcher(*self.command(99)).returncode, 1)
        self.assert_result(outcome="interrupted")
        self.assertEqual(self.runs(), 1)

    def test_killed_before_the_mark_runs_later(self):
        """A launcher that died before it began has run nothing: the next start does."""
        waiting = self.start(*self.command(0), flags=["--nnodes=2", "--rank=1", "--master-addr=127.0.0.1",
                                                      "--master-port=1"])
        while not (self.state / "result.json").exists():
            self.assertIsNone(waiting.poll())
        waiting.kill()
        waiting.wait()
        self.assertEqual(self.run_launcher(*self.command(0)).returncode, 0)
        self.assertEqual(self.runs(), 1)

    def test_disk_filled_by_the_command_keeps_its_result(self):
        self.require_root()
        script = ('mount -t tmpfs -o size=64k tmpfs "$1"; state=$1; shift; "$@"; code=$?;'
                  ' cat "$state/result.json" >&2; exit $code')
        done = self.run_launcher("sh", "-c", f"dd if=/dev/zero of={self.state}/fill 2>/dev/null; exit 5",
                                 wrapper=["unshare", "-m", "sh", "-c", script, "sh", str(self.state)])
        self.assertEqual(done.returncode, 5)
        self.assertEqual(json.loads(done.stderr)["exitCode"], 5)
