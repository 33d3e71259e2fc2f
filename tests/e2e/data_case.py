# SPDX-License-Identifier: Apache-2.0
"""Servers for tests of sources and results, as pods reach them."""

import base64
import functools
import http.server
import os
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

from tests.data.git_server import GitServer
from tests.data.swift import Swift
from tests.kit.operator_case import OperatorCase
from tests.kit.paths import program
from tests.kit.relay import Relay, address_towards

BUCKET = "gpupool-data"


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # pylint: disable=redefined-builtin
        pass


class DataCase(OperatorCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        for name in ("web", "git", "secret"):
            (cls.folder / name).mkdir()
        cls.host = address_towards(cls.lab.api.config["clusters"][0]["cluster"]["server"])
        swift = cls.enterClassContext(Swift())
        cls.s3 = cls.reachable(urlparse(swift.endpoint).port or 0)
        cls.credentials = {"AWS_ACCESS_KEY_ID": swift.key, "AWS_SECRET_ACCESS_KEY": swift.secret}
        for key, value in cls.credentials.items():
            (cls.folder / "secret" / key).write_text(value, encoding="utf-8")
        cls.bucket_tool("make-bucket")
        handler = functools.partial(QuietHandler, directory=str(cls.folder / "web"))
        web = http.server.ThreadingHTTPServer((cls.host, 0), handler)
        threading.Thread(target=web.serve_forever, args=(0.05,), daemon=True).start()
        cls.addClassCleanup(web.shutdown)
        cls.web = f"http://{cls.host}:{web.server_port}"
        git = cls.enterClassContext(GitServer(cls.folder / "git"))
        cls.git = cls.reachable(urlparse(git.url("x")).port or 0)

    @classmethod
    def reachable(cls, port: int) -> str:
        return "http://" + cls.enterClassContext(Relay(cls.host, ("127.0.0.1", port))).address

    @classmethod
    def bucket_tool(cls, *words: str) -> str:
        return subprocess.run([program("carry-s3-tool"), cls.s3, BUCKET, str(cls.folder / "secret"), *words], check=True,
                              capture_output=True, text=True, timeout=60).stdout

    @classmethod
    def put_object(cls, key: str, data: bytes) -> None:
        path = cls.folder / "object"
        path.write_bytes(data)
        cls.bucket_tool("put", str(path), key)

    @classmethod
    def get_objects(cls, prefix: str) -> dict[str, bytes]:
        with tempfile.TemporaryDirectory() as folder:
            for name in ("out", "state"):
                os.mkdir(os.path.join(folder, name))
            cls.bucket_tool("get-prefix", prefix, os.path.join(folder, "out"), "to", os.path.join(folder, "state"))
            top = Path(folder, "out", "to")
            return {str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()}

    @classmethod
    def commit(cls, files: dict[str, str]) -> str:
        """A bare repository `code` with one commit more; returns its id."""
        work = cls.folder / "work"

        def git(*words: str) -> str:
            return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *words], check=True, text=True,
                                  capture_output=True).stdout.strip()

        if not work.exists():
            git("init", "-q", "--bare", str(cls.folder / "git" / "code"))
            git("clone", "-q", str(cls.folder / "git" / "code"), str(work))
        for name, text in files.items():
            path = work / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        git("-C", str(work), "add", "-A")
        git("-C", str(work), "commit", "-qm", "change")
        git("-C", str(work), "push", "-q", "origin", "HEAD")
        return git("-C", str(work), "rev-parse", "HEAD")

    def secret(self, name: str, **values: str) -> None:
        self.api.create("secrets", {"metadata": {"name": name, "namespace": self.namespace}, "data": {
            key: base64.b64encode(value.encode()).decode() for key, value in values.items()}})

    def s3_location(self, **more: str) -> dict[str, Any]:
        return {"endpoint": self.s3, "bucket": BUCKET, **more}
