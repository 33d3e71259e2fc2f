# SPDX-License-Identifier: Apache-2.0
"""Speaks to the keeper as a launcher does (lib/api/log_push_format.h), and as one should not."""

import hashlib
import hmac
import json
import socket
import struct
from typing import Any

from tests.keeper.keeper_server import attempt_token

HELLO, NONCE, AUTH, HAVE, FRAME, LOST, ACK, END, ENDED, ERROR = 1, 2, 3, 4, 5, 6, 8, 9, 10, 11


def chunk(text: bytes, stream: int = 1, unix_ns: int = 1_700_000_000_000_000_000) -> bytes:
    return struct.pack("<BQI", stream, unix_ns, len(text)) + text


class PushClient:
    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)

    def send(self, kind: int, payload: bytes) -> None:
        self.socket.sendall(struct.pack("<BI", kind, len(payload)) + payload)

    def receive(self) -> tuple[int, bytes]:
        """(0, b"") if the keeper has closed the connection."""
        header = self._exactly(5)
        if len(header) < 5:
            return 0, b""
        kind, length = struct.unpack("<BI", header)
        return kind, self._exactly(length)

    def _exactly(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            try:
                part = self.socket.recv(size - len(got))
            except ConnectionError:
                return b""
            if not part:
                return b""
            got += part
        return got

    def hello(self, **members: Any) -> None:
        self.send(HELLO, json.dumps({"version": 1, "key": "k1", "rank": 0, "ranks": 1, "lease": 0, "attempt": 0, "job": "job", "pool": "pool",
                                     **members}).encode())

    def enter(self, ns: str, uid: str, token: bytes | None = None, **members: Any) -> tuple[int, bytes]:
        """The answer to a proof: (HAVE, position) or (ERROR, text)."""
        number = members.setdefault("lease", 0)
        self.hello(namespace=ns, uid=uid, **members)
        kind, nonce = self.receive()
        if kind != NONCE:
            return kind, nonce
        self.send(AUTH, hmac.new(token or attempt_token(uid, number, ns), nonce, hashlib.sha256).digest())
        return self.receive()

    def frame(self, position: int, *chunks: bytes) -> None:
        self.send(FRAME, struct.pack("<Q", position) + b"".join(chunks))

    def wait_ack(self, position: int) -> None:
        while True:
            kind, payload = self.receive()
            if kind != ACK:
                raise AssertionError(f"message {kind}: {payload!r}")
            if struct.unpack("<QQ", payload)[0] >= position:
                return

    def end(self, outcome: str = "exited", code: int = 0) -> int:
        """The kind of the answer."""
        self.send(END, json.dumps({"outcome": outcome, "exit": code}).encode())
        while True:
            kind, _ = self.receive()
            if kind != ACK:
                return kind

    def close(self) -> None:
        self.socket.close()
