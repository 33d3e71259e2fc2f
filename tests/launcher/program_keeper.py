# SPDX-License-Identifier: Apache-2.0
"""With a keeper that is away, silent or wrong: the command and its result are the same, and nothing waits."""

import socket
import threading
import time

from tests.launcher.launcher_case import LauncherCase

TOKEN = "a" * 64
IDENTITY = ("--keeper-key=k1", "--keeper-id=lab/uid/1/pool")


class KeeperTest(LauncherCase):
    def flags(self, address: str) -> tuple[str, ...]:
        return (f"--keeper={address}", *IDENTITY)

    def listener(self) -> socket.socket:
        found = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(found.close)
        return found

    def check(self, address: str, most: float, **more: str) -> None:
        begin = time.monotonic()
        done = self.run_launcher("sh", "-c", "echo out; echo err >&2; exit 3", flags=("--job=job", *self.flags(address)), text=True,
                                 env={"GPUPOOL_KEEPER_TOKEN": TOKEN, **more})
        self.assertEqual((done.returncode, done.stdout), (3, "out\n"))
        self.assertIn("err\n", done.stderr)
        self.assertLess(time.monotonic() - begin, most)
        self.assert_result(outcome="exited", exitCode=3)

    def test_nobody_listens(self) -> None:
        self.check("127.0.0.1:1", 5)

    def test_nobody_answers(self) -> None:
        """A connection that is never accepted."""
        listener = self.listener()
        self.check(f"127.0.0.1:{listener.getsockname()[1]}", 5)

    def test_an_address_that_swallows_all(self) -> None:
        self.check("240.0.0.1:7070", 5)

    def test_one_that_sends_rubbish(self) -> None:
        listener = self.listener()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.sendall(b"\xff" * 10_000)
        thread = threading.Thread(target=answer)
        thread.start()
        self.check(f"127.0.0.1:{listener.getsockname()[1]}", 5)
        thread.join(60)

    def test_one_that_reads_nothing_while_much_is_printed(self) -> None:
        listener = self.listener()
        begin = time.monotonic()
        done = self.run_launcher("seq", "3000000", flags=("--job=job", *self.flags(f"127.0.0.1:{listener.getsockname()[1]}")), text=True,
                                 env={"GPUPOOL_KEEPER_TOKEN": TOKEN})
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout.count("\n"), 3_000_000)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertLess((self.state / "log-spool").stat().st_size, 17 << 20)

    def test_flags_that_are_wrong_cost_nothing_else(self) -> None:
        for flags in (("--keeper=keeper:7070", *IDENTITY), ("--keeper=127.0.0.1:99999", *IDENTITY), ("--keeper=127.0.0.1:1",),
                      ("--keeper=127.0.0.1:1", "--keeper-id=lab/uid/x/pool"), ("--keeper=127.0.0.1:1", "--keeper-id=la\"b/uid/1/pool")):
            with self.subTest(flags=flags):
                self.setUp()
                done = self.run_launcher("echo", "out", flags=("--job=job", *flags), text=True, env={"GPUPOOL_KEEPER_TOKEN": TOKEN})
                self.assertEqual((done.returncode, done.stdout), (0, "out\n"))
                self.assertIn("output is not sent to the keeper", done.stderr)
        self.setUp()
        done = self.run_launcher("echo", "out", flags=("--job=job", *self.flags("127.0.0.1:1")), text=True)
        self.assertIn("there is no token for the keeper", done.stderr)

    def test_the_token_is_nowhere_else(self) -> None:
        listener = self.listener()
        got = bytearray()

        def read() -> None:
            connection, _ = listener.accept()
            connection.settimeout(30)
            with connection:
                while part := connection.recv(4096):
                    got.extend(part)
        thread = threading.Thread(target=read)
        thread.start()
        done = self.run_launcher("sh", "-c", "env; tr '\\0' ' ' < /proc/$PPID/cmdline",
                                 flags=("--job=job", *self.flags(f"127.0.0.1:{listener.getsockname()[1]}")), text=True,
                                 env={"GPUPOOL_KEEPER_TOKEN": TOKEN})
        thread.join(60)
        self.assertIn(b'"namespace":"lab"', got)
        self.assertNotIn(TOKEN.encode(), got)
        self.assertNotIn(TOKEN, done.stdout + done.stderr)
        self.assertNotIn("KEEPER_TOKEN", done.stdout)
        for file in self.state.iterdir():
            self.assertNotIn(TOKEN.encode(), file.read_bytes(), file.name)

    def test_without_the_flag_there_is_no_spool(self) -> None:
        done = self.run_launcher("sh", "-c", "env", flags=("--job=job",), text=True, env={"GPUPOOL_KEEPER_TOKEN": TOKEN})
        self.assertNotIn("KEEPER_TOKEN", done.stdout)
        self.assertFalse((self.state / "log-spool").exists())
