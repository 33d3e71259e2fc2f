# SPDX-License-Identifier: Apache-2.0
"""gpupool-carry fetch is killed again and again, and the tree is that of the source all the same."""

import hashlib
import http.server
import io
import os
import random
import re
import subprocess
import tarfile
import threading
import time
from typing import Any

from tests.data.carry_places import CarryCase
from tests.data.git_repository import Repository
from tests.data.git_server import GitServer
from tests.data.swift import Swift
from tests.kit.paths import program

KILLS = int(os.environ.get("FETCH_KILLS") or 20)
SEED = int(os.environ.get("FETCH_SEED") or 7)
BUCKET = "killed-fetch"


class SlowHandler(http.server.BaseHTTPRequestHandler):
    """Serves `files` at about 4 MB/s, with ranges and strong ETags."""
    files: dict[str, bytes] = {}

    def log_message(self, format: str, *args: Any) -> None:  # pylint: disable=redefined-builtin
        pass

    def do_GET(self) -> None:  # pylint: disable=invalid-name
        data = self.files[self.path]
        begin, code = 0, 200
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if wanted and int(wanted[1]) < len(data):
            begin, code = int(wanted[1]), 206
        self.send_response(code)
        self.send_header("Content-Length", str(len(data) - begin))
        self.send_header("ETag", '"' + hashlib.sha256(data).hexdigest()[:16] + '"')
        if code == 206:
            self.send_header("Content-Range", f"bytes {begin}-{len(data) - 1}/{len(data)}")
        self.end_headers()
        for at in range(begin, len(data), 1 << 16):
            try:
                self.wfile.write(data[at:at + (1 << 16)])
            except OSError:
                return
            time.sleep(0.016)


def archive(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


class FetchKillsTest(CarryCase):
    def test_the_tree_equals_its_source_after_many_kills(self) -> None:
        dice = random.Random(SEED)
        bytes_of = dice.randbytes
        packed = {f"d{i}/file{i}": bytes_of(2000) for i in range(50)}
        big = bytes_of(6 << 20)
        csv = "a,b\n" + "".join(f"{i},{i * i}\n" for i in range(20_000))
        SlowHandler.files = {"/big": big, "/archive.tar.gz": archive(packed), "/table.csv": csv.encode()}
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowHandler)
        threading.Thread(target=web.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(web.shutdown)
        objects = {f"set/{i % 7}/o{i}": bytes_of(dice.randrange(1, 200_000)) for i in range(60)}
        swift = self.enterContext(Swift())
        self.secret("s3", AWS_ACCESS_KEY_ID=swift.key, AWS_SECRET_ACCESS_KEY=swift.secret)
        self.put_all(swift, objects)
        (self.folder / "git").mkdir()
        code = {f"src/m{i}.py": bytes_of(3000) for i in range(40)}
        repository = Repository(self.folder / "git" / "code")
        files = [("100644", repository.blob(data), name.removeprefix("src/")) for name, data in code.items()]
        commit = repository.commit(repository.tree(("040000", repository.tree(*files), "src")))
        git = self.enterContext(GitServer(self.folder / "git"))
        url = f"http://127.0.0.1:{web.server_port}"
        source = {"items": [
            {"path": "big", "http": {"url": url + "/big"}, "sha256": hashlib.sha256(big).hexdigest()},
            {"path": "packed", "http": {"url": url + "/archive.tar.gz"}, "unpack": True},
            {"path": "table.csv", "http": {"url": url + "/table.csv"}},
            {"path": "set", "s3": {"endpoint": swift.endpoint, "bucket": BUCKET, "prefix": "set"}, "secret": "s3"},
            {"path": "code", "git": {"url": git.url("code"), "commit": commit}},
            {"path": "clean.csv", "csv": {"from": "table.csv"}}]}
        kills = 0
        while kills < KILLS:
            process = subprocess.Popen(self.fetch(source), stdout=subprocess.DEVNULL)  # pylint: disable=consider-using-with
            time.sleep(dice.uniform(0.01, 0.5))
            if process.poll() is None:
                kills += 1
            process.kill()
            if process.wait() == 0:  # all is there: begin anew
                subprocess.run(["find", self.folder / "work", self.folder / "state", "-mindepth", "1", "-delete"], check=True)
        result, report = self.run_fetch(source)
        self.assertEqual(0, result, report)
        tree = self.tree()
        tree.pop("clean.csv.report.json")
        self.assertEqual(csv.encode(), tree.pop("clean.csv"))
        self.assertEqual(csv.encode(), tree.pop("table.csv"))
        self.assertTrue(tree.pop("big") == big)
        self.assertEqual({"packed/" + name: data for name, data in packed.items()} | objects |
                         {"code/" + name: data for name, data in code.items()}, tree)

    def put_all(self, swift: Swift, objects: dict[str, bytes]) -> None:
        def tool(*words: str) -> None:
            subprocess.run([program("carry-s3-tool"), swift.endpoint, BUCKET, str(self.folder / "secrets" / "s3"), *words],
                           check=True, capture_output=True)

        tool("make-bucket")
        for key, data in objects.items():
            (self.folder / "object").write_bytes(data)
            tool("put", str(self.folder / "object"), key)


if __name__ == "__main__":
    import unittest
    unittest.main()
