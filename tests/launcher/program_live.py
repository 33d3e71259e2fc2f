# SPDX-License-Identifier: Apache-2.0
"""Numbers that the command reports are told while it runs, to whoever knows the id."""
import pathlib
import socket
import time

from tests.launcher.launcher_case import HANG_LIMIT, LauncherCase

def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


PORT = free_port()
FLAGS = ["--metrics=loss,acc", "--live-steps=1,3", "--live-id=secret", f"--live-port={PORT}"]
# Prints what comes on its standard input.
ECHO = ["sh", "-c", "while read -r line; do echo \"$line\"; done"]


def ask(text: str = "secret\n", family: socket.AddressFamily = socket.AF_INET) -> bytes:
    with socket.socket(family) as peer:
        peer.settimeout(HANG_LIMIT)
        peer.connect(("127.0.0.1" if family == socket.AF_INET else "::1", PORT))
        peer.sendall(text.encode())
        return b"".join(iter(lambda: peer.recv(4096), b""))


class Live(LauncherCase):
    def start_echo(self, *flags: str):
        process = self.start(*ECHO, flags=[*FLAGS, *flags], stdin=-1)
        self.wait_for(lambda: ask("x\n") == b"")
        return process

    @staticmethod
    def end(process) -> None:
        process.communicate(timeout=HANG_LIMIT)

    def say(self, process, line: str) -> None:
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()

    def wait_for(self, ready) -> None:
        end = time.monotonic() + HANG_LIMIT
        while True:
            try:
                if ready():
                    return
            except OSError:
                pass
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def assert_told(self, *lines: str) -> None:
        wanted = "".join(line + "\n" for line in ("gpupool-metrics 1", *lines)).encode()
        self.wait_for(lambda: ask() == wanted)

    def test_values_at_steps(self):
        process = self.start_echo()
        self.assert_told()
        self.say(process, "step=0 loss=9")
        self.say(process, "step=2 loss=0.5")
        self.assert_told("loss 0.5 0.5 9")
        self.say(process, "step=2 loss=0.1")
        self.say(process, "step=5 loss=nan acc=1")
        self.assert_told("loss 0.5 0.5 9 NaN 0.1 9", "acc 1 1 1 1 1 1")
        self.end(process)
        self.assertEqual(0, process.returncode)
        self.assertRaises(OSError, ask)
        self.assert_result(metrics=["loss NaN 5 0.1 2 9 0 4 1", "acc 1 5 1 5 1 5 1 0"])

    def test_without_steps_values_are_counted(self):
        process = self.start_echo()
        for value in "456":
            self.say(process, f"loss={value}")
        self.assert_told("loss 4 4 4 6 4 6")

    def test_who_does_not_know_the_id_is_told_nothing(self):
        process = self.start_echo()
        self.say(process, "step=1 loss=1")
        self.assert_told("loss 1 1 1")
        for text in ("", "\n", "secre\n", "secret \n", "secretsecret\n", "GET / HTTP/1.1\r\n\r\n", "x" * 1000):
            with socket.create_connection(("127.0.0.1", PORT), HANG_LIMIT) as peer:
                try:
                    peer.sendall(text.encode())
                    peer.shutdown(socket.SHUT_WR)
                    self.assertEqual(b"", peer.recv(4096), text)
                except OSError:
                    pass  # it was closed before all was sent
        if pathlib.Path("/proc/net/if_inet6").exists():
            self.assertIn(b"loss", ask(family=socket.AF_INET6))

    def test_silent_peers_do_not_keep_others_away(self):
        self.start_echo()
        silent = [socket.create_connection(("127.0.0.1", PORT), HANG_LIMIT) for _ in range(50)]
        self.assert_told()
        for peer in silent:
            peer.close()

    def test_the_command_runs_when_the_port_is_taken(self):
        with socket.create_server(("127.0.0.1", PORT)):
            done = self.run_launcher("sh", "-c", "echo loss=1", flags=FLAGS)
        self.assertEqual((0, b"loss=1\n"), (done.returncode, done.stdout))
        self.assertIn(b"the numbers cannot be told while the command runs: cannot listen on port %d" % PORT, done.stderr)
        self.assert_result(metrics=["loss 1 - 1 - 1 - 1 0"])

    def test_others_do_not_listen(self):
        for flags in (["--metrics=loss"], [*FLAGS, "--nnodes=2", "--rank=1", "--master-addr=x", "--master-timeout=0"]):
            process = self.start(*ECHO, flags=flags, stdin=-1)
            self.say(process, "begun")
            self.assertEqual(b"begun\n", process.stdout.readline())
            self.assertRaises(OSError, ask)
            self.end(process)
            self.state.joinpath("result.json").unlink()
            for left in self.state.iterdir():
                left.unlink()
