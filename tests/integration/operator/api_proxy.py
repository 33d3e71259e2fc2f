# SPDX-License-Identifier: Apache-2.0
"""Stands between one operator and the API server: knows what the operator sends, and can keep the two apart.

The operator speaks plain HTTP to it, so that nothing but the test sees its requests in the clear.
"""

import base64
import http.client
import http.server
import json
import os
import socket
import ssl
import threading
import time
import urllib.parse
from http.client import HTTPResponse
from typing import Any

from tests.kit.api import Api

HOP_BY_HOP = {"connection", "host", "accept-encoding", "transfer-encoding", "content-length", "authorization"}


def fills_cache(method: str, path: str) -> bool:
    """A watch, or the list before one; what is looked up live asks for no version, or for one object."""
    query = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)
    return method == "GET" and ("watch" in query or "resourceVersion" in query)


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    upstream = None

    def handle_any(self) -> None:
        proxy = self.server.proxy
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not proxy.admit(self.command, self.path):
            self.close_connection = True
            return
        headers = {k: v for k, v in self.headers.items() if k.lower() not in HOP_BY_HOP}
        headers["Authorization"] = proxy.authorization
        if self.upstream is None:
            self.upstream = proxy.connect()
        self.upstream.request(self.command, self.path, body or None, headers)
        response = self.upstream.getresponse()
        if self.command != "GET" and response.status < 300:
            proxy.changes.append((time.monotonic(), f"{self.command} {self.path}"))
        self.relay(response, proxy)

    do_GET = do_POST = do_PATCH = do_DELETE = do_PUT = handle_any  # noqa: N815

    def relay(self, response: HTTPResponse, proxy: Any) -> None:
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in HOP_BY_HOP:
                self.send_header(name, value)
        if not response.chunked:
            body = response.read()
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            proxy.delay_answer()
            self.wfile.write(body)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while piece := response.read1(65536):
            if not proxy.lets_through(self.command, self.path):
                self.close_connection = True
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        self.wfile.write(b"0\r\n\r\n")

    def finish(self) -> None:
        if self.upstream is not None:
            self.upstream.close()
        try:
            super().finish()
        except OSError:
            pass  # the operator has gone

    def log_message(self, *_: Any) -> None:  # pylint: disable=arguments-differ
        pass


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    proxy = None

    def handle_error(self, *_: Any) -> None:
        pass  # either side may end a connection at any time


class ApiProxy:
    """requests: (monotonic time, method, path), as they come in. changes: (monotonic time, method and path) of writes that the
    server has carried out."""

    def __init__(self, api: Api, folder: str, name: str) -> None:
        cluster = api.config["clusters"][0]["cluster"]
        self._address = urllib.parse.urlsplit(cluster["server"])
        self._tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        self.authorization = "Bearer " + api.config["users"][0]["user"]["token"]
        self.requests, self.changes = [], []
        self.closed = False
        self.blind = False
        self.delay = 0.0
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        self.kubeconfig = os.path.join(folder, f"kubeconfig-{name}")
        config = json.loads(json.dumps(api.config))
        config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{self._server.server_address[1]}"}
        config["users"][0]["user"] = {}
        with open(self.kubeconfig, "w", encoding="utf-8") as target:
            json.dump(config, target)

    def close(self) -> None:
        self.closed = True
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def cut(self) -> None:
        """From now on the operator reaches nothing; what is on its way is lost."""
        self.closed = True

    def blindfold(self) -> None:
        """From now on the operator's caches stand still, as if watches were late; everything else works."""
        self.blind = True

    def mend(self) -> None:
        self.closed = self.blind = False

    def connect(self) -> Any:
        connection = http.client.HTTPSConnection(self._address.hostname, self._address.port or 443, timeout=900,
                                                 context=self._tls)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def admit(self, method: str, path: str) -> Any:
        self.requests.append((time.monotonic(), method, path))
        return self.lets_through(method, path)

    def lets_through(self, method: str, path: str) -> bool:
        return not self.closed and not (self.blind and fills_cache(method, path))

    def delay_answer(self) -> None:
        time.sleep(self.delay)

    def changes_since(self, moment: float) -> list[str]:
        return [what for when, what in list(self.changes) if when >= moment]

    def writes_since(self, moment: float) -> list[str]:
        return [f"{method} {path}" for when, method, path in list(self.requests) if when >= moment and method != "GET"]


