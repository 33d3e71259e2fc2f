# SPDX-License-Identifier: Apache-2.0
"""An HTTP server of git repositories for tests: git's own http-backend, and what can go wrong on the way.

    with GitServer(folder) as server:
        server.token = "secret"
        ... server.url("name.git") ...
"""

import base64
import os
import ssl
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Optional

PIECE = 1 << 16


class Asked(NamedTuple):
    """One request as it came."""

    method: str
    path: str
    authorization: str


class QuietServer(ThreadingHTTPServer):
    """Clients may go when they like."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class GitServer:
    """Serves all bare repositories of a folder, on a free port of the loopback. The attributes may change at any time."""

    def __init__(self, folder: Path, tls: Optional[ssl.SSLContext] = None) -> None:
        self.folder = folder
        self.basic: Optional[tuple[str, str]] = None  # user and password that it wants
        self.token: Optional[str] = None  # that it wants as Bearer
        self.token_is_password = False  # it wants the token as the password of x-access-token
        self.cut_after: Optional[int] = None  # bytes of the next pack; then the connection ends
        self.end_after: Optional[int] = None  # bytes of the next pack; then the answer ends as if it were whole
        self.stalls = 0  # so many packs stop after some bytes, until the client goes
        self.statuses: list[int] = []  # of the next requests
        self.retry_after = ""
        self.redirect = ""  # Location of the answers to GET; {path} stands for the path and query
        self.page = ""  # HTML instead of git
        self.old_protocol = False
        self.error_line = ""  # instead of a pack
        self.asked: list[Asked] = []
        self.tls = tls is not None
        self.stopped = threading.Event()
        self._http = QuietServer(("127.0.0.1", 0), handler_of(self))
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,))

    def url(self, name: str) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._http.server_port}/{name}"

    def __enter__(self) -> "GitServer":
        self._thread.start()
        return self

    def __exit__(self, kind: Optional[type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.stopped.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def admits(self, authorization: str) -> bool:
        def basic(user: str, password: str) -> str:
            return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()

        if self.basic:
            return authorization == basic(*self.basic)
        if self.token and self.token_is_password:
            return authorization == basic("x-access-token", self.token)
        return self.token is None or authorization == f"Bearer {self.token}"


def handler_of(server: GitServer) -> type[BaseHTTPRequestHandler]:
    """The class of one connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:  # pylint: disable=redefined-builtin
            pass

        def do_GET(self) -> None:  # pylint: disable=invalid-name
            self.answer(b"")

        def do_POST(self) -> None:  # pylint: disable=invalid-name
            self.answer(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

        def short(self, status: int, text: str = "", kind: str = "text/plain", **headers: str) -> None:
            body = text.encode()
            self.send_response(status)
            for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        def answer(self, body: bytes) -> None:
            authorization = self.headers.get("Authorization", "")
            server.asked.append(Asked(self.command, self.path, authorization))
            if server.statuses:
                more = {"Retry-After": server.retry_after} if server.retry_after else {}
                return self.short(server.statuses.pop(0), "wait", **more)
            if server.redirect and self.command == "GET":
                return self.short(302, Location=server.redirect.format(path=self.path))
            if not server.admits(authorization):
                return self.short(401, "who are you?", WWW_Authenticate='Basic realm="git"')
            if server.page:
                return self.short(200, server.page, "text/html")
            if server.error_line and self.command == "POST":
                line = f"ERR {server.error_line}\n"
                return self.short(200, f"{len(line.encode()) + 4:04x}{line}", "application/x-git-upload-pack-result")
            return self.run_git(body)

        def run_git(self, body: bytes) -> None:
            path, _, query = self.path.partition("?")
            environment = {
                "PATH": os.environ["PATH"], "GIT_PROJECT_ROOT": str(server.folder), "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "PATH_INFO": path, "QUERY_STRING": query,
                "REQUEST_METHOD": self.command, "REMOTE_ADDR": "127.0.0.1", "CONTENT_LENGTH": str(len(body)),
                "CONTENT_TYPE": self.headers.get("Content-Type", ""), "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*",
                "GIT_PROTOCOL": "" if server.old_protocol else self.headers.get("Git-Protocol", ""),
            }
            with subprocess.Popen(["git", "http-backend"], env=environment, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as git:
                assert git.stdin and git.stdout
                git.stdin.write(body)
                git.stdin.close()
                try:
                    self.pass_on(git.stdout)
                except OSError:  # the client has gone
                    self.close_connection = True
                git.kill()

        def pass_on(self, output) -> None:  # type: ignore[no-untyped-def]
            status, headers = 200, []
            while (line := output.readline().rstrip(b"\r\n").decode()):
                name, _, value = line.partition(": ")
                if name == "Status":
                    status = int(value.split()[0])
                else:
                    headers.append((name, value))
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            sent, pack = 0, self.command == "POST"
            while piece := output.read1(PIECE):
                if pack and server.cut_after is not None and sent + len(piece) > server.cut_after:
                    self.chunk(piece[:max(server.cut_after - sent, 1)])
                    server.cut_after, self.close_connection = None, True
                    return
                if pack and server.end_after is not None and sent + len(piece) > server.end_after:
                    self.chunk(piece[:max(server.end_after - sent, 1)])
                    server.end_after = None
                    break
                self.chunk(piece)
                sent += len(piece)
                if pack and server.stalls > 0:
                    server.stalls -= 1
                    server.stopped.wait(20)
                    self.close_connection = True
                    return
            self.wfile.write(b"0\r\n\r\n")

        def chunk(self, piece: bytes) -> None:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))

    return Handler
