# SPDX-License-Identifier: Apache-2.0
"""A local S3 server with one bucket, as the pods of the demo's cluster reach it."""

import contextlib
import os
import subprocess
import tempfile
from typing import Iterator
from urllib.parse import urlsplit

from demo.show.errors import DemoError
from tests.data.swift import Swift
from tests.kit.paths import program
from tests.kit.relay import Relay, address_towards


class Bucket:
    def __init__(self, swift: Swift, name: str, endpoint: str, folder: str) -> None:
        self.name, self.endpoint, self.key, self.secret, self._folder = name, endpoint, swift.key, swift.secret, folder
        for key, value in (("AWS_ACCESS_KEY_ID", self.key), ("AWS_SECRET_ACCESS_KEY", self.secret)):
            with open(os.path.join(folder, key), "w", encoding="utf-8") as file:
                file.write(value)
        self._call("make-bucket")

    def put(self, path: str, key: str) -> None:
        self._call("put", path, key)

    def get(self, key: str) -> str:
        self._call("get", key, self._folder, "object")
        with open(os.path.join(self._folder, "object"), encoding="utf-8") as file:
            return file.read()

    def keys(self, folder: str) -> list[str]:
        return [line.split(" ", 1)[1] for line in self._call("list", folder).splitlines() if line]

    def _call(self, *words: str) -> str:
        done = subprocess.run([program("carry-s3-tool"), self.endpoint, self.name, self._folder, *words], capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            raise DemoError(f"S3 server, {words[0]}: {done.stdout.strip()} {done.stderr.strip()}")
        return done.stdout


@contextlib.contextmanager
def serve(name: str, server_url: str) -> Iterator[Bucket]:
    """server_url: of the API server; what listens on this machine's address towards it is reached by pods."""
    with Swift() as swift, tempfile.TemporaryDirectory() as folder, \
            Relay(address_towards(server_url), ("127.0.0.1", urlsplit(swift.endpoint).port or 0)) as relay:
        yield Bucket(swift, name, "http://" + relay.address, folder)
