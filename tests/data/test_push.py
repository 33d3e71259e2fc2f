# SPDX-License-Identifier: Apache-2.0
"""gpupool-carry push beside a real gpupool-launch: when results are put away, and what is said of them."""

import hashlib
import json
import os
import signal
import subprocess
import time
from typing import Any

from tests.data.carry_places import CarryCase
from tests.data.swift import Swift
from tests.kit.paths import program
from tests.kit.waiting import wait_for

BUCKET = "pushed-results"


class PushTest(CarryCase):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "claims" / "models").mkdir()
        self.to: dict[str, Any] = {"from": "/gpupool/work/out", "to": {"volume": {"claimName": "models", "path": "$(job)/$(attempt)-$(rank)"}}}

    def start(self, results: list[dict[str, Any]], *flags: str) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(self.push(results, *flags), stdout=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        wait_for("its handling of signals", lambda: process.poll() is not None or _takes_sigterm(process.pid))
        return process

    def put(self) -> dict[str, bytes]:
        return self.tree("claims/models/j/2-0")

    def item(self) -> dict[str, Any]:
        item: dict[str, Any] = self.report()["items"][0]
        return item

    def test_all_files_come_with_a_manifest_when_the_command_ends(self) -> None:
        push = self.start([self.to])
        launch = self.launch("mkdir -p out/deep; sleep 1; echo a > out/a; echo b > out/deep/b; ln -s /etc/passwd out/link")
        self.assertEqual(0, launch.wait(20))
        self.assertEqual(0, push.wait(20))
        self.assertEqual({"a", "deep/b", "manifest.json"}, set(self.put()))
        manifest = json.loads(self.put()["manifest.json"])
        self.assertEqual((True, "j", "ns", 2, 0), tuple(manifest[key] for key in
                                                          ("complete", "job", "namespace", "attempt", "rank")))
        self.assertIn({"path": "a", "bytes": 2, "sha256": hashlib.sha256(b"a\n").hexdigest()}, manifest["files"])
        self.assertEqual(("Complete", 2, 4), tuple(self.item()[key] for key in ("state", "files", "bytes")))
        self.assertIn("1 links or special files were left out: link", self.item()["message"])

    def test_a_failed_command(self) -> None:
        push = self.start([self.to, {**self.to, "when": "OnSuccess"}])
        self.assertEqual(3, self.launch("mkdir out; echo a > out/a; exit 3").wait(20))
        self.assertEqual(0, push.wait(20))
        self.assertEqual(["Complete", "Skipped"], [item["state"] for item in self.report()["items"]])

    def test_a_launcher_that_is_killed(self) -> None:
        push = self.start([self.to])
        launch = self.launch("mkdir out; echo a > out/a; sleep 100 & wait")
        wait_for("the file", lambda: (self.folder / "work" / "out" / "a").exists())
        launch.kill()
        launch.wait()
        self.assertEqual(0, push.wait(40))
        self.assertEqual("Complete", self.item()["state"])

    def test_files_come_while_the_command_runs(self) -> None:
        push = self.start([{**self.to, "syncSeconds": 1}])
        launch = self.launch("mkdir out; echo 1 > out/step; echo x > out/gone; until [ -e go ]; do sleep 0.1; done;"
                             "echo 22 > out/step; rm out/gone")
        wait_for("the first step", lambda: self.put() == {"step": b"1\n", "gone": b"x\n"})
        (self.folder / "work" / "go").touch()
        self.assertEqual((0, 0), (launch.wait(20), push.wait(20)))
        self.assertEqual({"step", "manifest.json"}, set(self.put()))
        self.assertEqual(b"22\n", self.put()["step"])

    def test_a_stop_leaves_the_program_time_to_write(self) -> None:
        push = self.start([self.to], "--grace-seconds=20")
        launch = self.launch("mkdir out; trap 'sleep 1; echo late > out/late; exit 0' TERM; echo a > out/a; sleep 100 & wait")
        wait_for("the file", lambda: (self.folder / "work" / "out" / "a").exists())
        for process in (push, launch):
            process.send_signal(signal.SIGTERM)
        self.assertEqual((0, 0), (launch.wait(20), push.wait(20)))
        self.assertEqual({"a", "late", "manifest.json"}, set(self.put()))

    def test_a_program_that_does_not_end_in_its_grace(self) -> None:
        push = self.start([self.to], "--grace-seconds=6")
        launch = self.launch("mkdir out; trap '' TERM; echo a > out/a; while :; do sleep 1; done")
        self.addCleanup(launch.kill)
        wait_for("the file", lambda: (self.folder / "work" / "out" / "a").exists())
        time.sleep(2.1)
        begin = time.monotonic()
        for process in (push, launch):
            process.send_signal(signal.SIGTERM)
        self.assertEqual(0, push.wait(20))
        self.assertLess(time.monotonic() - begin, 6)
        self.assertEqual({"a"}, set(self.put()))
        self.assertEqual("Incomplete", self.item()["state"])

    def test_what_cannot_be_put_is_said(self) -> None:
        gone = {**self.to, "from": "/gpupool/work/gone"}
        no_claim = {**self.to, "to": {"volume": {"claimName": "other"}}, "timeoutSeconds": 2}
        away = {**self.to, "to": {"s3": {"endpoint": "http://127.0.0.1:9", "bucket": "abc"}}, "timeoutSeconds": 2}
        push = self.start([gone, no_claim, away])
        self.launch("mkdir out; echo a > out/a").wait(20)
        self.assertEqual(0, push.wait(30))
        items = self.report()["items"]
        self.assertEqual(["Incomplete"] * 3, [item["state"] for item in items])
        self.assertIn("does not exist", items[0]["message"])
        self.assertTrue(all(item["message"] for item in items), items)

    def test_a_link_never_leads_to_a_secret(self) -> None:
        self.secret("s", KEY="geheim")
        push = self.start([{**self.to, "from": "/gpupool/work/out/deep"}])
        self.launch(f"mkdir out; ln -s {self.folder}/secrets/s out/deep").wait(20)
        self.assertEqual(0, push.wait(30))
        self.assertNotIn("geheim", str(self.tree("claims")))
        self.assertNotEqual(1, self.item()["files"])

    def test_a_container_that_starts_again_repeats_its_report(self) -> None:
        push = self.start([self.to])
        self.launch("mkdir out; echo a > out/a").wait(20)
        self.assertEqual(0, push.wait(20))
        first = self.report()
        os.unlink(self.folder / "log")
        again = self.start([self.to], "--hold")
        wait_for("the report", lambda: (self.folder / "log").exists() and (self.folder / "log").stat().st_size > 0)
        self.assertEqual(first, self.report())
        again.send_signal(signal.SIGTERM)
        self.assertEqual(0, again.wait(5))

    def test_a_bucket(self) -> None:
        swift = self.enterContext(Swift())
        self.secret("s3", AWS_ACCESS_KEY_ID=swift.key, AWS_SECRET_ACCESS_KEY=swift.secret)

        def tool(*words: str) -> str:
            return subprocess.run([program("carry-s3-tool"), swift.endpoint, BUCKET, str(self.folder / "secrets" / "s3"), *words],
                                  check=True, capture_output=True, text=True).stdout

        tool("make-bucket")
        to = {"s3": {"endpoint": swift.endpoint, "bucket": BUCKET, "prefix": "$(namespace)/$(job)/"}}
        push = self.start([{"from": "/gpupool/work/out", "to": to, "secret": "s3"},
                           {"from": "/gpupool/work/one file", "secret": "s3", "to": {
                               "s3": {**to["s3"], "prefix": "$(namespace)/other"}}}])
        self.launch("mkdir out; head -c 70000000 /dev/zero > out/big; : > out/empty; echo x > 'one file'").wait(20)
        self.assertEqual(0, push.wait(60))
        items = self.report()["items"]
        self.assertEqual(["Complete", "Complete"], [item["state"] for item in items], items)
        self.assertEqual((2, 70_000_000), (items[0]["files"], items[0]["bytes"]))
        self.assertEqual(f"s3://{BUCKET}/ns/j/", items[0]["to"])
        (self.folder / "out").mkdir()
        (self.folder / "listing").mkdir()
        tool("get-prefix", "ns/j", str(self.folder / "out"), "to", str(self.folder / "listing"))
        files = self.tree("out/to")
        self.assertEqual({"big", "empty", "manifest.json"}, set(files))
        self.assertEqual(70_000_000, len(files["big"]))


def _takes_sigterm(pid: int) -> bool:
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        masks = dict(line.split(":", 1) for line in status)
    return bool(int(masks["SigBlk"], 16) >> (signal.SIGTERM - 1) & 1)


if __name__ == "__main__":
    import unittest
    unittest.main()
