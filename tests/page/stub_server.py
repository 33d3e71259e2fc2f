# SPDX-License-Identifier: Apache-2.0
"""Serves the files of web/page and plays the server of the page, where a test needs more jobs or lines than a cluster on
this machine could have, or a log that no program would print."""

import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Iterable

from tests.kit.paths import ROOT

PAGE = ROOT / "web/page"
TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".svg": "image/svg+xml"}
POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
SESSION = {"mode": "local", "user": "tester", "allNamespaces": True, "namespace": "lab", "version": "0", "ledger": True}

Topic = dict[str, Any]
# What is sent for a topic, message by message; the id is added.
Plays = Callable[[Topic], Iterable[dict[str, Any]]]


class StubServer:
    """As a context manager it serves inside. Its policy is the server's (web/server/guard.cc)."""

    def __init__(self, plays: Plays) -> None:
        stub = self
        self.plays, self.posts = plays, []  # type: ignore[var-annotated]
        self.status = 200  # of the session
        self.bill: Any = {"month": "2026-11", "closed": False, "lines": [], "totals": {}}
        self.bill_status, self.bills = 200, []  # type: ignore[var-annotated]
        self.ended = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                path = urllib.parse.urlsplit(self.path).path
                if path == "/api/session":
                    self.answer(stub.status, "application/json", json.dumps(
                        SESSION if stub.status == 200 else {"error": "sign in", "mode": "token"}).encode())
                    return
                if path == "/api/bill":
                    stub.bills.append(urllib.parse.urlsplit(self.path).query)
                    self.answer(stub.bill_status, "application/json", json.dumps(stub.bill).encode())
                    return
                file = PAGE / (path.lstrip("/") or "index.html")
                if not file.is_file():
                    self.answer(404, "text/plain", b"not found")
                    return
                self.answer(200, TYPES.get(file.suffix, "text/plain"), file.read_bytes())

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.posts.append((self.path, body))
                if self.path == "/api/access":
                    self.answer(200, "application/json", json.dumps([True] * len(body)).encode())
                elif self.path == "/api/stream":
                    self.stream(body["topics"])
                else:
                    self.answer(200, "application/json", b"{}")

            def stream(self, topics: list[Topic]) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "application/x-ndjson")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                try:
                    for topic in topics:
                        for message in stub.plays(topic):
                            self.chunk(json.dumps({"id": topic["id"], **message}) + "\n")
                    stub.ended.wait()
                except (BrokenPipeError, ConnectionResetError):
                    pass
                self.close_connection = True

            def chunk(self, text: str) -> None:
                data = text.encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

            def answer(self, status: int, kind: str, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Content-Security-Policy", POLICY)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/"

    def __enter__(self) -> "StubServer":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
