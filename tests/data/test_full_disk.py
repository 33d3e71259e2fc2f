# SPDX-License-Identifier: Apache-2.0
"""gpupool-carry on a disk that is full: nothing half is left, and the cause is said. Needs root, to mount a small disk."""

import http.server
import subprocess
import threading
from functools import partial
from typing import Any

from tests.data.carry_places import CarryCase


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # pylint: disable=redefined-builtin
        pass


class FullDiskTest(CarryCase):
    def setUp(self) -> None:
        super().setUp()
        work = str(self.folder / "work")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", work], check=True)
        self.addCleanup(lambda: subprocess.run(["umount", work], check=True))
        (self.folder / "web").mkdir()
        web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(self.folder / "web")))
        threading.Thread(target=web.serve_forever, args=(0.05,), daemon=True).start()
        self.addCleanup(web.shutdown)
        self.url = f"http://127.0.0.1:{web.server_port}"

    def refused(self, source: dict[str, Any]) -> str:
        code, report = self.run_fetch(source)
        self.assertEqual((1, "SourceTooLarge"), (code, report["reason"]), report)
        message: str = report["message"]
        return message

    def test_a_file_larger_than_the_disk(self) -> None:
        (self.folder / "web" / "large").write_bytes(bytes(3 << 20))
        message = self.refused({"items": [{"path": "a/large", "http": {"url": self.url + "/large"}}]})
        self.assertIn("a/large", message)
        self.assertIn("No space left on device", message)
        self.assertNotIn("a/large", self.tree())

    def test_an_archive_that_unpacks_to_more(self) -> None:
        (self.folder / "web" / "zeros").write_bytes(bytes(3 << 20))
        subprocess.run(["tar", "czf", "zeros.tgz", "zeros"], cwd=self.folder / "web", check=True)
        self.refused({"items": [{"path": "x", "unpack": True, "http": {"url": self.url + "/zeros.tgz"}}]})
        self.assertEqual([], [name for name in self.tree() if name.startswith("x/")])

    def test_a_table(self) -> None:
        (self.folder / "web" / "t.csv").write_text("a,b\n" + "1,2\n" * 160_000, encoding="ascii")
        self.refused({"items": [{"path": "t.csv", "http": {"url": self.url + "/t.csv"}},
                                {"path": "clean.csv", "csv": {"from": "t.csv"}}]})
        self.assertNotIn("clean.csv", self.tree())
