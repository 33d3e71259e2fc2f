# SPDX-License-Identifier: Apache-2.0
"""Signals, zombies, processes left behind, and life as PID 1."""
import os
import pathlib
import signal
import sys

from tests.launcher.launcher_case import HANG_LIMIT, LauncherCase

ORPHAN = """
import os, sys, time
read, write = os.pipe()
if os.fork() == 0:              # dies at once and leaves an orphan
    pid = os.fork()
    if pid == 0:
        os.close(read)
        os._exit(0)             # the orphan ends: a zombie unless its new parent reaps it
    os.write(write, str(pid).encode())
    os._exit(0)
os.wait()
orphan = int(os.read(read, 20))
end = time.monotonic() + 30
while os.path.exists(f"/proc/{orphan}"):
    if time.monotonic() > end: sys.exit(1)
    time.sleep(0.01)
"""


def gone(pid):
    return not pathlib.Path(f"/proc/{pid}").exists()


class Signals(LauncherCase):
    def start_ready(self, script, **options):
        process = self.start("sh", "-c", script, **options)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def test_command_killed(self):
        for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
            self.setUp()
            done = self.run_launcher("sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(done.returncode, 128 + number)
            result = self.assert_result(outcome="signaled", exitCode=128 + number, signal=int(number))
            self.assertEqual(result["message"], f"killed by {number.name}")

    def test_forwarded_signals_reach_the_command(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
                       signal.SIGWINCH, signal.SIGCONT):
            self.setUp()
            script = f"trap 'exit 33' {int(number)}; echo ready; while :; do sleep 0.01; done"
            process = self.start_ready(script)
            process.send_signal(number)
            self.assertEqual(process.wait(HANG_LIMIT), 33, number)
            self.assert_result(outcome="exited", exitCode=33)

    def test_stop_signal_that_kills_is_told(self):
        self.require_machines_pid_namespace()  # where this test is outside the pod
        process = self.start_ready("echo ready; exec sleep 1000")
        process.terminate()
        self.assertEqual(process.wait(HANG_LIMIT), 143)
        result = self.assert_result(outcome="signaled", signal=15)
        self.assertIn("after SIGTERM was forwarded", result["message"])
        self.assertEqual(result["stopSignal"], signal.SIGTERM)

    def test_stop_signal_reaches_what_a_shell_runs(self):
        inner = "trap 'sleep 0.6; echo saved; exit' TERM; echo ready; while :; do sleep 0.02; done"
        process = self.start_ready(f"sh -c \"{inner}\"; exit 1")
        process.terminate()
        out = process.communicate(timeout=HANG_LIMIT)[0]
        self.assertEqual(out, b"saved\n")  # written after the outer shell had died
        self.assertEqual(process.returncode, 143)

    def test_signals_are_as_the_launcher_found_them(self):
        done = self.run_launcher("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", restore_signals=True)
        masks = dict(line.split(b":\t") for line in done.stdout.splitlines())
        self.assertEqual(int(masks[b"SigBlk"], 16), 0)
        self.assertEqual(int(masks[b"SigIgn"], 16) & (1 << (signal.SIGPIPE - 1)), 0)


class Processes(LauncherCase):
    def test_ignored_child_signal_hides_no_exit_code(self):
        ignoring = "import os,signal,sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
        done = self.run_launcher("sh", "-c", "exit 5", wrapper=[sys.executable, "-c", ignoring])
        self.assertEqual(done.returncode, 5)

    def test_orphans_are_reaped(self):
        self.assertEqual(self.run_launcher(sys.executable, "-c", ORPHAN).returncode, 0)

    def test_nothing_is_left_behind(self):
        done = self.run_launcher("sh", "-c", "sleep 1000 & echo $!; setsid sh -c 'echo $$; sleep 1000' & sleep 0.1; exit 3")
        self.assertEqual(done.returncode, 3)
        pids = [int(line) for line in done.stdout.split()]
        self.assertEqual(len(pids), 2)
        self.assertTrue(all(gone(pid) for pid in pids))

    def test_command_dies_with_the_launcher(self):
        process = self.start("sh", "-c", "echo $$; exec sleep 1000")
        self.kill_and_wait_for(process, int(process.stdout.readline()))


class PidOne(LauncherCase):
    WRAPPER = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]

    def setUp(self):
        super().setUp()
        self.require_root()

    def test_exit_code_and_orphans(self):
        done = self.run_launcher(sys.executable, "-c", ORPHAN + "sys.exit(9)\n", wrapper=self.WRAPPER)
        self.assertEqual(done.returncode, 9)

    def test_stop_signal(self):
        process = self.start("sh", "-c", "trap 'exit 8' TERM; echo ready; while :; do sleep 0.01; done",
                             wrapper=self.WRAPPER)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        os.kill(int(children[0]), signal.SIGTERM)
        self.assertEqual(process.wait(HANG_LIMIT), 8)
        self.assert_result(exitCode=8, stopSignal=int(signal.SIGTERM))
