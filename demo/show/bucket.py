# SPDX-License-Identifier: Apache-2.0
"""A local S3 server with one bucket, as the pods of the demo's cluster reach it."""

import contextlib
import socket
import urllib.request
from typing import Any, Iterator
from urllib.parse import urlsplit

from tests.data.swift import Swift
from tests.kit.relay import Relay


class Bucket:
    """Its objects, through the server's own protocol; pods use S3."""

    def __init__(self, swift: Swift, name: str, endpoint: str) -> None:
        self.name, self.endpoint, self.key, self.secret = name, endpoint, swift.key, swift.secret
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open
        login = urllib.request.Request(swift.endpoint + "/auth/v1.0",
                                       headers={"X-Auth-User": swift.key, "X-Auth-Key": swift.secret})
        with self._open(login, timeout=30) as answer:
            self._token, self._url = answer.headers["X-Auth-Token"], answer.headers["X-Storage-Url"]
        self._call("PUT", "")

    def put(self, key: str, data: bytes) -> None:
        self._call("PUT", "/" + key, data)

    def get(self, key: str) -> bytes:
        return self._call("GET", "/" + key)

    def keys(self) -> list[str]:
        return self._call("GET", "").decode().split()

    def _call(self, method: str, path: str, data: bytes | None = None) -> bytes:
        request = urllib.request.Request(f"{self._url}/{self.name}{path}", data, {"X-Auth-Token": self._token}, method=method)
        with self._open(request, timeout=30) as answer:
            content: bytes = answer.read()
            return content


@contextlib.contextmanager
def serve(name: str, server_url: str) -> Iterator[Bucket]:
    """server_url: of the API server; what listens on this machine's address towards it is reached by pods."""
    with Swift() as swift, Relay(_address_towards(server_url), ("127.0.0.1", urlsplit(swift.endpoint).port or 0)) as relay:
        yield Bucket(swift, name, "http://" + relay.address)


def _address_towards(url: str) -> Any:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((urlsplit(url).hostname, 9))
        return probe.getsockname()[0]
