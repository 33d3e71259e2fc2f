# SPDX-License-Identifier: Apache-2.0
"""What the keeper does not take, and what it removes."""

import subprocess
import time
from typing import Any

from tests.keeper.keeper_case import KeeperCase
from tests.keeper.keeper_server import KeeperServer, attempt_token
from tests.keeper.push_client import ENDED, ERROR, FRAME, HAVE, NONCE, PushClient, chunk
from tests.kit.waiting import wait_for


def noise(size: int, seed: int) -> bytes:
    """Bytes that cannot be compressed."""
    text = bytearray()
    state = seed
    while len(text) < size:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        text += state.to_bytes(8, "little")
    return bytes(text[:size])


class LimitTest(KeeperCase):
    flags = ("--job-mib=1", "--namespace-mib=3", "--total-mib=5")

    def push(self, uid: str, size: int, ns: str = "", number: int = 0) -> None:
        """An attempt of so many bytes, in frames."""
        client = self.entered(uid, ns=ns or self.ns, lease=number)
        for at in range(0, size, 32768):
            client.frame(at, chunk(noise(min(32768, size - at), at + 1)))
        self.assertEqual(client.end(), ENDED)
        client.close()

    def test_a_job_has_a_limit(self) -> None:
        """Its end is told, and what is lost is counted."""
        uid = self.uid()
        self.push(uid, 3 << 20)
        (attempt,) = self.keeper.attempts(self.token, self.ns, uid=uid)
        self.assertLess(attempt["bytes"], 1.3 * (1 << 20))
        self.assertGreater(attempt["lost"], 3 << 19)
        self.assertEqual(attempt["outcome"], "exited")
        self.push(uid, 1000, number=1)  # the limit is that of all attempts
        self.assertEqual(self.keeper.attempts(self.token, self.ns, uid=uid)[0]["lost"], 1000)

    def test_the_oldest_attempts_of_a_namespace_go_first(self) -> None:
        ns = self.make_namespace("full")
        self.allow("reader", ns)
        uids = [self.uid() for _ in range(6)]
        running = self.entered(uids[0], ns=ns)  # it has not ended, so it stays
        running.frame(0, chunk(noise(600_000, 7)[:60_000]))
        running.wait_ack(60_000)
        for uid in uids[1:]:
            self.push(uid, 900_000, ns=ns)
        kept = [attempt["uid"] for attempt in self.keeper.attempts(self.token, ns)]
        self.assertIn(uids[0], kept)
        self.assertIn(uids[-1], kept)
        self.assertNotIn(uids[1], kept)
        self.assertLess(sum(attempt["bytes"] for attempt in self.keeper.attempts(self.token, ns)), 4 << 20)
        self.assertEqual(self.keeper.output(self.token, ns, uids[-1]).encode("utf-8", "surrogateescape")[:32768], noise(32768, 1))

    def test_a_key_that_is_new_is_taken_up(self) -> None:
        uid, key = self.uid(), b"another key, of at least 32 bytes"
        token = attempt_token(uid, 0, self.ns, key)
        kind, answer = self.client().enter(self.ns, uid, token=token, key="k2")
        self.assertEqual((kind, answer[0]), (ERROR, 0), answer)  # not for ever
        self.keeper.add_key("k2", key)

        def entered() -> bool:
            client = PushClient(self.keeper.port)
            kind, _ = client.enter(self.ns, uid, token=token, key="k2")
            client.close()
            return kind == HAVE
        wait_for("the key", entered)


class DiskTest(KeeperCase):
    def test_a_full_disk_takes_nothing_and_then_goes_on(self) -> None:
        folder = self.folder()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", folder], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", "-l", folder], check=True))
        keeper = KeeperServer(self.kubeconfig, data=folder)
        self.addCleanup(keeper.close)
        with open(f"{folder}/filler", "wb") as filler:
            filler.write(b"x" * (1 << 20))
        uid = self.uid()
        client = PushClient(keeper.port)
        self.addCleanup(client.close)
        self.assertEqual(client.enter(self.ns, uid)[0], HAVE)
        size = 3 << 19  # 1.5 MiB
        for at in range(0, size, 32768):
            client.frame(at, chunk(noise(32768, at + 1)))
        wait_for("a full disk", lambda: keeper.metric("gpupool_keeper_disk_is_full") == 1, detail=keeper.log)
        self.assertEqual(keeper.ask("/v1/nothing", self.token)[0], 404)  # it still answers
        subprocess.run(["rm", f"{folder}/filler"], check=True)
        client.wait_ack(size)
        self.assertEqual(client.end(), ENDED)
        wait_for("room", lambda: keeper.metric("gpupool_keeper_disk_is_full") == 0)
        stored = keeper.output(self.token, self.ns, uid).encode("utf-8", "surrogateescape")
        self.assertEqual(stored, b"".join(noise(32768, at + 1) for at in range(0, size, 32768)))


class HostileWriterTest(KeeperCase):
    def refused(self, **members: Any) -> str:
        """The text of the refusal."""
        client = self.client()
        client.hello(**{"namespace": self.ns, "uid": "u", **members})
        kind, answer = client.receive()
        self.assertEqual((kind, answer[:1]), (ERROR, b"\1"), answer)
        self.assertEqual(client.receive(), (0, b""))
        return answer[1:].decode()

    def test_who_has_another_token_is_refused(self) -> None:
        uid = self.uid()
        for token, members in ((b"\0" * 32, {}), (attempt_token(uid, 1, self.ns), {}),
                               (attempt_token(uid, 0, "other"), {})):
            kind, answer = self.client().enter(self.ns, uid, token=token, **members)
            self.assertEqual((kind, answer), (ERROR, b"\1the token is not that of this attempt"))
        self.assertEqual(self.keeper.attempts(self.token, self.ns, uid=uid), [])

    def test_names_cannot_leave_the_store(self) -> None:
        for name in ("../x", "..", ".", "a/b", "", "A", "a\0b", "x" * 254):
            for member in ("namespace", "uid"):
                with self.subTest(name=name, member=member):
                    self.assertIn("namespace, uid", self.refused(**{member: name}))
        self.assertIn("name of a job", self.refused(job="../../etc"))
        self.assertIn("ranks", self.refused(rank=1))
        self.assertIn("ranks", self.refused(ranks=1_000_000))
        self.assertIn("ranks", self.refused(rank=-1))
        self.assertIn("version", self.refused(version=2))

    def test_bytes_that_are_no_messages(self) -> None:
        for payload in (b"\xff" * 100, b"GET / HTTP/1.1\r\n\r\n", b"\1\xff\xff\xff\xff", b"\5\0\0\0\0", b"\1\4\0\0\0null"):
            client = self.client()
            client.socket.sendall(payload)
            while client.receive() != (0, b""):
                pass

    def test_frames_that_are_none(self) -> None:
        for bad in (b"", b"\0" * 7, b"\0" * 8 + b"\7" + b"\0" * 12 + b"x", b"\0" * 8 + chunk(b"ab")[:-1], b"\0" * 8 + chunk(b"a", stream=0),
                    (1).to_bytes(8, "little") + chunk(b"a"), b"\0" * 8 + chunk(b"")):
            with self.subTest(bad=bad):
                client = self.entered(self.uid())
                client.send(FRAME, bad)
                kind, answer = client.receive()
                self.assertEqual(kind, ERROR, answer)
        client = self.entered(self.uid())
        client.socket.sendall(bytes([FRAME]) + (70_000).to_bytes(4, "little"))
        self.assertEqual(client.receive()[0], ERROR)

    def test_a_thousand_silent_connections_keep_nobody_out(self) -> None:
        silent = [self.client() for _ in range(1000)]
        uid = self.uid()
        self.stored(uid, "a line\n")
        self.assertEqual(self.keeper.output(self.token, self.ns, uid), "a line\n")
        for client in silent[:900]:
            self.assertEqual(client.receive(), (0, b""))
        self.assertGreater(self.keeper.metric("gpupool_keeper_refused_connections_total"), 700)

    def test_who_is_slow_to_prove_itself_is_dropped(self) -> None:
        client = self.client()
        client.hello(namespace=self.ns, uid="u")
        self.assertEqual(client.receive()[0], NONCE)
        begin = time.monotonic()
        self.assertEqual(client.receive(), (0, b""))
        self.assertLess(time.monotonic() - begin, 30)

    def test_nothing_is_taken_after_the_end(self) -> None:
        uid = self.uid()
        self.stored(uid, "a line\n")
        kind, answer = self.client().enter(self.ns, uid)
        self.assertEqual((kind, answer), (ERROR, b"\1the rank has ended"))
        self.keeper.kill()
        self.keeper.start()
        kind, answer = self.client().enter(self.ns, uid)
        self.assertEqual((kind, answer), (ERROR, b"\1the rank has ended"))
        client = self.entered(self.uid())
        client.frame(0, chunk(b"first\n"))
        client.send(9, b'{"outcome": "exited", "exit": 0}')
        client.frame(6, chunk(b"second\n"))
        while client.receive()[0] not in (ENDED, 0):
            pass

    def test_the_number_of_ranks_is_that_of_the_first_hello(self) -> None:
        uid = self.uid()
        self.entered(uid, ranks=2)
        kind, answer = self.client().enter(self.ns, uid, rank=2, ranks=3)
        self.assertEqual((kind, answer), (ERROR, b"\1the attempt has 2 ranks"))

    def test_the_newer_connection_of_a_rank_counts(self) -> None:
        uid = self.uid()
        older = self.entered(uid)
        older.frame(0, chunk(b"one\n"))
        older.wait_ack(4)
        newer = self.entered(uid)
        self.assertEqual(older.receive(), (0, b""))
        newer.frame(0, chunk(b"one\n"), chunk(b"two\n"))  # what is known is left out
        newer.end()
        self.assertEqual(self.keeper.output(self.token, self.ns, uid), "one\ntwo\n")
