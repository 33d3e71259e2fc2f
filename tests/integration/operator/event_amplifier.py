# SPDX-License-Identifier: Apache-2.0
"""Stands between one operator and the API server and makes many watch events of each: a day's worth in seconds.

What is repeated is what the server sent, and what the operator reads, lists and writes goes to the server and back
untouched. In between come objects that were there and are gone before anybody looked: names without end, of which the
operator must keep nothing. Watches are closed now and then, and every few times their version has expired.
"""

import json
import threading
from http.client import HTTPResponse
from typing import Any

from tests.integration.operator import api_proxy
from tests.integration.operator.api_proxy import ApiProxy
from tests.kit.api import Api, Object

SHORT_LIVED = {"pods", "gpujobs", "nodes", "gpunodes", "services"}
EXPIRED = {"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Expired",
                                       "message": "too old resource version: 1 (2)", "code": 410}}


class _Handler(api_proxy._Handler):  # pylint: disable=protected-access
    def relay(self, response: HTTPResponse, proxy: Any) -> None:
        if "watch=" not in self.path or not response.chunked:
            super().relay(response, proxy)
            return
        self.send_response(response.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if proxy.next_watch_has_expired():
            self.send_lines(json.dumps(EXPIRED).encode() + b"\n")
        else:
            self.amplify(response, proxy)
        self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def amplify(self, response: HTTPResponse, proxy: Any) -> None:
        rest, sent = b"", 0
        while not proxy.closed and sent < proxy.events_of_a_watch:
            piece = response.read1(65536)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                sent += self.send_event(line, proxy)

    def send_event(self, line: bytes, proxy: Any) -> Any:
        event = json.loads(line)
        if event["type"] not in ("ADDED", "MODIFIED"):
            self.send_lines(line + b"\n")
            return proxy.count(1)
        if proxy.factor == 1:
            self.send_lines(line + b"\n")
            return proxy.count(1)
        count = 0
        for _ in range(proxy.factor // proxy.batch):
            short = proxy.short_lived(event, self.path)
            self.send_lines(short + (line + b"\n") * proxy.batch)
            count += proxy.count(proxy.batch + short.count(b"\n"))
        return count

    def send_lines(self, lines: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(lines), lines))


class EventAmplifier(ApiProxy):
    factor = 1  # events that are made of one, once the caches are full
    batch = 200  # between two objects that come and go
    events_of_a_watch = 5_000

    def __init__(self, api: Api, folder: str, name: str) -> None:
        super().__init__(api, folder, name)
        self._server.RequestHandlerClass = _Handler
        self._lock = threading.Lock()
        self._counted = threading.Condition(self._lock)
        self._watches = 0
        self._names = 0
        self.events = 0
        self.expired = 0

    @property
    def watches(self) -> Any:
        return self._watches

    @property
    def names(self) -> Any:
        return self._names

    def count(self, events: int) -> Any:
        with self._lock:
            self.events += events
            self._counted.notify_all()
        return events

    def wait_for_events(self, least: int, limit: float) -> Any:
        """False if the operator was not sent so many in time; what changes while a watch has expired is listed."""
        with self._lock:
            return self._counted.wait_for(lambda: self.events >= least, limit)

    def next_watch_has_expired(self) -> Any:
        with self._lock:
            self._watches += 1
            expired = self._watches > 8 and self._watches % 5 == 0
            self.expired += expired
            return expired

    def short_lived(self, event: Object, path: str) -> Any:
        """An object of its own name that comes, changes and goes; empty for kinds that last."""
        kind = path.partition("?")[0].rpartition("/")[2]
        if kind not in SHORT_LIVED:
            return b""
        with self._lock:
            self._names += 1
            name = f"passing-{self._names}"
        copy = json.loads(json.dumps(event["object"]))
        metadata = copy["metadata"]
        metadata.update(name=name, uid=f"00000000-0000-4000-8000-{self._names:012}")
        metadata.pop("ownerReferences", None)
        if "labels" in metadata:
            metadata["labels"] = {key: name if key.startswith("gpupool.dev/") else value
                                  for key, value in metadata["labels"].items()}
        if kind == "gpujobs":
            copy.pop("status", None)
        return b"".join(json.dumps({"type": what, "object": copy}).encode() + b"\n"
                        for what in ("ADDED", "MODIFIED", "DELETED"))
