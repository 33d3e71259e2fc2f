#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The S3 client of gpupool-carry against a real server. Usage: tests/data/test_s3.py [-v] [TEST...]

Needs the built carry-s3-tool; the first run downloads Debian's packages of OpenStack Swift.
"""

import hashlib
import os
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(next(p for p in Path(__file__).resolve().parents if (p / "CMakePresets.json").exists()))

from tests.data.cutting_proxy import CuttingProxy  # noqa: E402
from tests.data.swift import Swift  # noqa: E402
from tests.kit.commands import run  # noqa: E402
from tests.kit.paths import program  # noqa: E402

BUCKET = "data-1"
ODD_NAMES = ["a b", "c+d", "~e", "f=g", "h(i)", "j'k", "ä/ö €", "l%41", "m&n;o", "p?q#r", "s*t!", "u:v@w,x$"]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class AgainstSwift(unittest.TestCase):
    server: Swift

    @classmethod
    def setUpClass(cls) -> None:
        cls.server = cls.enterClassContext(Swift())
        with tempfile.TemporaryDirectory() as folder:
            made = run(program("carry-s3-tool"), cls.server.endpoint, BUCKET, cls.secret_in(folder), "make-bucket")
        if made != (0, "made\n"):
            raise RuntimeError(f"the bucket cannot be made: {made[1]}")

    @classmethod
    def secret_in(cls, folder: str, secret: str | None = None) -> str:
        Path(folder, "AWS_ACCESS_KEY_ID").write_text(cls.server.key + "\n", encoding="utf-8")
        Path(folder, "AWS_SECRET_ACCESS_KEY").write_text(secret or cls.server.secret, encoding="utf-8")
        return folder

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("secret", "in", "out", "state"):
            (self.folder / name).mkdir()
        self.secret = self.secret_in(str(self.folder / "secret"))

    def tool(self, *words: str, bucket: str = BUCKET, endpoint: str | None = None) -> tuple[int, str]:
        code, output = run(program("carry-s3-tool"), endpoint or self.server.endpoint, bucket, self.secret, *words)
        return code, output.rstrip("\n")

    def put(self, key: str, data: bytes) -> None:
        path = self.folder / "in" / "file"
        path.write_bytes(data)
        self.assertEqual(self.tool("put", str(path), key), (0, f"{len(data)} {sha256(data)}"))

    def get_prefix(self, prefix: str, **more: str) -> tuple[int, str]:
        return self.tool("get-prefix", prefix, str(self.folder / "out"), "to", str(self.folder / "state"), **more)

    def test_an_object(self) -> None:
        data = os.urandom(300_000)
        self.put("one/object", data)
        self.assertEqual(self.tool("get", "one/object", str(self.folder / "out"), "to/file"),
                         (0, f"{len(data)} {sha256(data)}"))
        self.assertEqual((self.folder / "out/to/file").read_bytes(), data)
        self.put("one/object", b"")
        self.assertEqual(self.tool("get", "one/object", str(self.folder / "out"), "to/file"), (0, f"0 {sha256(b'')}"))
        self.assertEqual(self.tool("delete", "one/object"), (0, "removed"))
        self.assertEqual(self.tool("delete", "one/object"), (0, "removed"))

    def test_odd_names(self) -> None:
        for name in ODD_NAMES:
            self.put(f"odd/{name}", name.encode())
        lines = "".join(f"{name}\0{sha256(name.encode())}\n" for name in sorted(ODD_NAMES, key=str.encode))
        size = sum(len(name.encode()) for name in ODD_NAMES)
        self.assertEqual(self.get_prefix("odd"), (0, f"{len(ODD_NAMES)} {size} {sha256(lines.encode())}"))
        for name in ODD_NAMES:
            self.assertEqual((self.folder / "out/to" / name).read_bytes(), name.encode())

    def test_parts(self) -> None:
        block = os.urandom(1 << 20)
        data = block * 65
        self.put("parts", data)
        self.assertEqual(self.tool("get", "parts", str(self.folder / "out"), "file"), (0, f"{len(data)} {sha256(data)}"))

    def test_a_long_listing(self) -> None:
        self.server.add_names(BUCKET, [f"long/{number:05}" for number in range(2300)])
        code, output = self.tool("list", "long")
        self.assertEqual(code, 0)
        self.assertEqual(output.split("\n"), [f"3 long/{number:05}" for number in range(2300)])

    def test_a_prefix_is_a_folder(self) -> None:
        self.put("a/x", b"1")
        self.put("ab/x", b"2")
        self.assertEqual(self.tool("list", "a"), (0, "1 a/x"))
        self.assertEqual(self.tool("list", "b")[1], "not-found there is nothing under the prefix b/")

    def test_refusals(self) -> None:
        self.put("one", b"1")
        code, output = self.tool("get", "missing", str(self.folder / "out"), "x")
        self.assertEqual((code, output.split()[0]), (1, "not-found"))
        self.assertIn("NoSuchKey", output)
        code, output = self.tool("list", "", bucket="no-such-bucket")
        self.assertEqual((code, output.split()[0]), (1, "not-found"))
        self.assertIn("NoSuchBucket", output)
        self.secret_in(self.secret, "wrong-words")
        code, output = self.tool("get", "one", str(self.folder / "out"), "x")
        self.assertEqual((code, output.split()[0]), (1, "denied"))
        self.assertIn("SignatureDoesNotMatch", output)
        self.assertNotIn("wrong-words", output)

    def test_goes_on_after_cuts(self) -> None:
        data = os.urandom(400_000)
        self.put("cut/file", data)
        port = int(self.server.endpoint.rsplit(":", 1)[1])
        with CuttingProxy(port, [100_000, 250_000]) as proxy:
            found = self.tool("get", "cut/file", str(self.folder / "out"), "file",
                              endpoint=f"http://127.0.0.1:{proxy.own_port}")
            self.assertEqual(found, (0, f"{len(data)} {sha256(data)}"))
            ranges = [line for request in proxy.requests for line in request.split(b"\r\n")
                      if line.startswith((b"Range", b"If-Match"))]
        self.assertEqual(len(ranges), 4)
        self.assertEqual((self.folder / "out/file").read_bytes(), data)

    def test_a_second_process_uses_the_first_listing(self) -> None:
        for number in range(3):
            self.put(f"again/{number}", b"1")
        first = self.get_prefix("again")
        self.assertEqual(first[0], 0)
        self.put("again/more", b"2")
        (self.folder / "out/to/1").unlink()
        self.assertEqual(self.get_prefix("again"), first)
        self.assertFalse((self.folder / "out/to/more").exists())
        self.put("again/1", b"3")
        (self.folder / "out/to/1").unlink()
        code, output = self.get_prefix("again")
        self.assertEqual((code, output.split()[0]), (1, "mismatch"))


if __name__ == "__main__":
    unittest.main()
