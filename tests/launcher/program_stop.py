# SPDX-License-Identifier: Apache-2.0
"""Who told a worker to stop: `stopSignal` is for signals from outside the pod alone."""
import os
import pathlib
import signal
import socket
import subprocess
import sys

from tests.launcher.launcher_case import HANG_LIMIT, LauncherCase

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
OWN_PIDS = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
# As with shareProcessNamespace: the launcher is not PID 1, and its neighbour sends SIGTERM for each line it reads.
NEIGHBOUR = [*OWN_PIDS, "sh", "-c", '"$@" & while read line; do kill -TERM $!; done; wait $!', "sh"]
HOLDING_OUT = "trap '' TERM; trap 'exit 9' INT; echo ready; while :; do sleep 0.02; done"

# sigqueue with a sender of one's own choice.
FORGED = """
import ctypes, os, platform, signal, struct, sys, time
number = {"x86_64": 129, "aarch64": 138}[platform.machine()]  # rt_sigqueueinfo
SI_QUEUE = -1
info = struct.pack("iiiiiI", signal.SIGTERM, 0, SI_QUEUE, 0, int(sys.argv[1]), 0).ljust(128, bytes(1))
if ctypes.CDLL(None).syscall(number, os.getppid(), signal.SIGTERM, info) != 0:
    sys.exit(3)
time.sleep(1000)
"""

# A process that nobody of the command's group waits for: its parent has ended.
ORPHAN = "launcher=$PPID; trap 'exit 7' TERM; (sh -c \"sleep 0.1; kill -TERM $launcher; sleep 0.3\" &); " \
         "while :; do sleep 0.02; done"


def children(pid):
    return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class StopCase(LauncherCase):
    def setUp(self):
        super().setUp()
        self.require_root()

    def start_ready(self, *command, **options):
        process = self.start(*command, **options)
        self.assertEqual(process.stdout.readline(), b"ready\n")
        return process

    def assert_not_told(self, process, code, **fields):
        self.assertEqual(process.wait(HANG_LIMIT), code)
        self.assert_result(exitCode=code, stopSignal=None, **fields)

    def assert_told(self, process, code, number, **fields):
        self.assertEqual(process.wait(HANG_LIMIT), code)
        self.assert_result(exitCode=code, stopSignal=int(number), **fields)


class FromOutside(StopCase):
    """As the container runtime does it, which is not in the pod's PID namespace."""

    def test_every_stop_signal(self):
        for number in STOP_SIGNALS:
            self.setUp()
            process = self.start_ready("sh", "-c", "echo ready; exec sleep 1000", wrapper=OWN_PIDS)
            os.kill(children(process.pid)[0], number)
            self.assert_told(process, 128 + number, number, outcome="signaled", signal=int(number))

    def test_launcher_that_is_not_pid_1(self):
        process = self.start_ready("sh", "-c", "echo ready; exec sleep 1000", wrapper=NEIGHBOUR, stdin=subprocess.PIPE)
        os.kill(children(children(process.pid)[0])[0], signal.SIGTERM)
        process.communicate(timeout=HANG_LIMIT)
        self.assert_told(process, 143, signal.SIGTERM)

    def test_before_and_after_a_signal_from_inside(self):
        for outside_first in (True, False):
            self.setUp()
            process = self.start_ready("sh", "-c", HOLDING_OUT, wrapper=OWN_PIDS)
            launcher = children(process.pid)[0]
            inside = ["nsenter", f"--pid=/proc/{launcher}/ns/pid", "kill"]
            if outside_first:
                os.kill(launcher, signal.SIGTERM)
                self.wait_taken(launcher)
                subprocess.run([*inside, "-INT", "1"], check=False)  # it may end with the namespace
                self.assert_told(process, 9, signal.SIGTERM)
            else:
                subprocess.run([*inside, "-TERM", "1"], check=True)
                self.wait_taken(launcher)
                os.kill(launcher, signal.SIGINT)
                self.assert_told(process, 9, signal.SIGINT)

    def wait_taken(self, pid):
        """Until the process has read the signals that were sent to it."""
        status = pathlib.Path(f"/proc/{pid}/status")
        while int(status.read_text().split("ShdPnd:")[1].split()[0], 16) != 0:
            pass


class FromInside(StopCase):
    """Whoever has a PID in the pod cannot make an end uncharged."""

    WRAPPER = OWN_PIDS

    def test_command_that_signals_its_launcher(self):
        for number in STOP_SIGNALS:
            self.setUp()
            process = self.start("sh", "-c", f"kill -{int(number)} $PPID; exec sleep 1000", wrapper=self.WRAPPER)
            self.assert_not_told(process, 128 + number, outcome="signaled", signal=int(number),
                                 message=f"killed by {number.name}")

    def test_it_is_forwarded_still(self):
        script = "trap 'exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.02; done"
        self.assert_not_told(self.start("sh", "-c", script, wrapper=self.WRAPPER), 7, message="exit code 7")

    def test_orphan_of_the_command(self):
        self.assert_not_told(self.start("sh", "-c", ORPHAN, wrapper=self.WRAPPER), 7)

    def test_sender_that_is_forged(self):
        for sender in ("0", "1"):
            self.setUp()
            process = self.start(sys.executable, "-c", FORGED, sender, wrapper=self.WRAPPER)
            self.assert_not_told(process, 143, outcome="signaled")

    def test_sender_with_an_odd_name(self):
        shell = self.dir / ") S 0 (1"
        shell.write_bytes(pathlib.Path("/bin/sh").read_bytes())
        shell.chmod(0o755)
        process = self.start(str(shell), "-c", "kill -TERM $PPID; while :; do :; done", wrapper=self.WRAPPER)
        self.assert_not_told(process, 143, outcome="signaled")


class OnTheMachine(StopCase):
    def setUp(self):
        super().setUp()
        self.require_machines_pid_namespace()


class OutsideWithHostPid(OnTheMachine):
    """There the runtime has a PID as well: who is no descendant is outside."""

    def test_every_stop_signal(self):
        for number in STOP_SIGNALS:
            self.setUp()
            process = self.start_ready("sh", "-c", "echo ready; exec sleep 1000")
            process.send_signal(number)
            self.assert_told(process, 128 + number, number, outcome="signaled")

    def test_sender_that_is_gone(self):
        process = self.start_ready("sh", "-c", "echo ready; exec sleep 1000")
        process.send_signal(signal.SIGSTOP)  # it reads the signal after its sender has gone
        subprocess.run(["sh", "-c", f"kill -TERM {process.pid}"], check=True)
        process.send_signal(signal.SIGCONT)
        self.assert_told(process, 143, signal.SIGTERM)


class InsideWithHostPid(OnTheMachine, FromInside):
    WRAPPER = ()


class Neighbour(StopCase):
    def test_while_the_command_runs(self):
        process = self.start_ready("sh", "-c", "echo ready; exec sleep 1000", wrapper=NEIGHBOUR, stdin=subprocess.PIPE)
        process.communicate(b"\n", timeout=HANG_LIMIT)
        self.assert_not_told(process, 143, outcome="signaled", signal=15)


class WaitingForRank0(StopCase):
    def start_waiting(self, **options):
        server = socket.socket()
        self.addCleanup(server.close)
        server.bind(("127.0.0.1", 0))  # and nobody listens
        process = self.start("true", flags=["--nnodes=2", "--rank=1", "--master-addr=127.0.0.1",
                                            f"--master-port={server.getsockname()[1]}"], **options)
        while not (self.state / "result.json").exists():
            self.assertIsNone(process.poll())
        return process

    def test_from_outside(self):
        process = self.start_waiting(wrapper=OWN_PIDS)
        os.kill(children(process.pid)[0], signal.SIGTERM)
        self.assert_told(process, 143, signal.SIGTERM, outcome="notStarted", reason="Stopped")

    def test_from_inside(self):
        process = self.start_waiting(wrapper=NEIGHBOUR, stdin=subprocess.PIPE)
        process.communicate(b"\n", timeout=HANG_LIMIT)
        self.assert_not_told(process, 143, outcome="notStarted", reason="Stopped")
