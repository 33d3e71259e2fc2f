# SPDX-License-Identifier: Apache-2.0
"""Who may read, and what is read."""

import json
import threading
from typing import Any

from tests.keeper.keeper_case import KeeperCase
from tests.keeper.keeper_server import KeeperServer
from tests.keeper.push_client import HAVE, PushClient, chunk
from tests.kit.api import ApiError
from tests.kit.waiting import wait_for

SECOND = 1_000_000_000


class AccessTest(KeeperCase):
    flags = ("--access-cache-seconds=1",)

    def log_path(self, ns: str, uid: str) -> str:
        return f"/v1/namespaces/{ns}/jobs/{uid}/leases/0/ranks/0/log"

    def test_the_api_server_decides(self) -> None:
        theirs = self.make_namespace("theirs")
        uid, other = self.uid(), self.uid()
        self.stored(uid, "ours\n")
        self.stored(other, "theirs\n", ns=theirs)
        nobody, both = self.user("nobody"), self.user("both", self.ns, theirs)
        for token, may_ours, may_theirs in ((self.token, 200, 403), (nobody, 403, 403), (both, 200, 200), ("not-a-token", 401, 401), (None, 401, 401)):
            for ns, its, expected in ((self.ns, uid, may_ours), (theirs, other, may_theirs)):
                with self.subTest(expected=expected, ns=ns):
                    self.assertEqual(self.keeper.ask(f"/v1/namespaces/{ns}/attempts", token)[0], expected)
                    self.assertEqual(self.keeper.ask(self.log_path(ns, its), token)[0], expected)
                    self.assertEqual(self.keeper.ask(self.log_path(ns, self.uid()), token)[0], 404 if expected == 200 else expected)
        # By the proxy of services, which removes Authorization.
        self.assertEqual(self.keeper.ask(self.log_path(theirs, other), None, X_Gpupool_Token=both), (200, b"theirs\n"))
        self.assertEqual(self.keeper.ask(self.log_path(theirs, other), both, X_Gpupool_Token=nobody)[0], 403)

    def test_a_right_that_was_taken_ends(self) -> None:
        ns = self.make_namespace("taken")
        self.allow("reader", ns)
        self.assertEqual(self.keeper.ask(f"/v1/namespaces/{ns}/attempts", self.token)[0], 200)
        self.api.call("DELETE", f"/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/rolebindings/reader")
        wait_for("the end of the right", lambda: self.keeper.ask(f"/v1/namespaces/{ns}/attempts", self.token)[0] == 403, limit=90)

    def test_a_namespace_that_somebody_else_makes_again(self) -> None:
        """Also if the keeper's clock is wrong, and if the keeper was started again in between."""
        for ahead in ("+10m", "-10m"):
            with self.subTest(ahead=ahead):
                keeper = KeeperServer(self.kubeconfig, *self.flags, variables={"LD_PRELOAD": "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1", "FAKETIME": ahead,
                                                                  "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
                self.addCleanup(keeper.close)
                name, uid = f"{self.mark}-again{'m' if ahead[0] == '-' else 'p'}", self.uid()
                self.api.create("namespaces", {"metadata": {"name": name}})
                self.addCleanup(self.api.delete, "namespaces", name)
                self.allow("reader", name)
                client = PushClient(keeper.port)
                self.assertEqual(client.enter(name, uid)[0], HAVE)
                client.frame(0, chunk(b"secret of the first\n"))
                client.end()
                client.close()
                # Before that only times are compared, and a namespace as new as the attempt may count as a later one.
                wait_for("the UID of the namespace", lambda: self.noted_uid(keeper, name, uid))
                self.assertEqual(keeper.output(self.token, name, uid), "secret of the first\n")
                self.api.delete("namespaces", name)
                wait_for("the end of the namespace", lambda: self.finalized(name))
                self.api.create("namespaces", {"metadata": {"name": name}})
                self.allow_again("reader", name)
                wait_for("the new namespace to count", lambda: keeper.ask(f"/v1/namespaces/{name}/attempts", self.token)[1] == b'{"attempts":[]}',
                         limit=90)
                self.assertEqual(keeper.ask(self.log_path(name, uid), self.token)[0], 404)
                keeper.kill()
                keeper.start()
                self.assertEqual(keeper.ask(self.log_path(name, uid), self.token)[0], 404)
                self.assertEqual(keeper.attempts(self.token, name), [])
                again = PushClient(keeper.port)
                self.assertEqual(again.enter(name, self.uid())[0], HAVE)
                again.close()
                self.assertEqual(len(keeper.attempts(self.token, name)), 1)

    def allow_again(self, name: str, ns: str) -> None:
        """Where no controller runs, the binding of the first namespace is still there."""
        try:
            self.allow(name, ns)
        except ApiError as error:
            if error.code != 409:
                raise

    def noted_uid(self, keeper: KeeperServer, ns: str, uid: str) -> str:
        with open(f"{keeper.data}/{ns}/{uid}/0/attempt.json", encoding="utf-8") as source:
            noted: str = json.load(source)["namespaceUID"]
            return noted

    def finalized(self, name: str) -> bool:
        """Takes the part of the namespace controller, which may not run here."""
        try:
            found: Any = self.api.call("GET", f"/api/v1/namespaces/{name}")
        except ApiError as error:
            return error.code == 404
        if found["metadata"].get("deletionTimestamp"):
            found["spec"]["finalizers"] = []
            self.api.call("PUT", f"/api/v1/namespaces/{name}/finalize", found)
        return False

    def test_other_requests(self) -> None:
        for path in ("/", "/v1", "/v1/namespaces", f"/v1/namespaces/{self.ns}", f"/v1/namespaces/{self.ns}/attempts/..%2f..", "/v1/namespaces/../attempts",
                     "/v1/namespaces/a%2fb/attempts", f"/v1/namespaces/{self.ns}/jobs/..%2f..%2fx/leases/0/ranks/0/log",
                     f"/v1/namespaces/{self.ns}/jobs/u/leases/-1/ranks/0/log"):
            self.assertEqual(self.keeper.ask(path, self.token)[0], 404, path)
        self.assertEqual(self.keeper.ask("/v1/namespaces/no-such/attempts", self.token)[0], 403)
        self.assertIn(self.keeper.ask(f"/v1/namespaces/{self.ns}/attempts", self.token, method="POST")[0], (405, 501))
        for query in ("timestamps=true&tailLines=x", "timestamps=true&sinceTime=yesterday", "tailLines=3", "a=%zz"):
            self.assertEqual(self.keeper.ask(self.log_path(self.ns, "u") + "?" + query, self.token)[0], 400, query)


class ReadingTest(KeeperCase):
    def test_lines_with_their_times(self) -> None:
        uid = self.uid()
        client = self.entered(uid)
        client.frame(0, chunk(b"one\ntw", 1, 5 * SECOND), chunk(b"error\n", 2, 6 * SECOND), chunk(b"o\nthree\nfo", 1, 7 * SECOND + 1))
        client.frame(22, chunk(b"ur", 1, 8 * SECOND))
        client.wait_ack(24)
        begin = "1970-01-01T00:00:0"
        shown = self.keeper.output(self.token, self.ns, uid, timestamps="true")
        self.assertEqual(shown, f"{begin}5.000000000Z one\n{begin}6.000000000Z error\n{begin}5.000000000Z two\n"
                                f"{begin}7.000000001Z three\n{begin}7.000000001Z four\n")
        self.assertEqual(self.keeper.output(self.token, self.ns, uid), "one\ntwerror\no\nthree\nfour")
        self.assertEqual(self.keeper.output(self.token, self.ns, uid, timestamps="true", tailLines=2),
                         f"{begin}7.000000001Z three\n{begin}7.000000001Z four\n")
        self.assertEqual(self.keeper.output(self.token, self.ns, uid, timestamps="true", sinceTime="1970-01-01T00:00:06Z").count("\n"), 3)

    def test_the_last_lines_of_much(self) -> None:
        """Frames are read from the end; every line is there once, whatever is asked for."""
        uid = self.uid()
        client = self.entered(uid)
        text = b"".join(b"line %d %s\n" % (n, b"x" * (n % 97)) for n in range(60_000))
        for at in range(0, len(text), 50_000):
            client.frame(at, chunk(text[at:at + 50_000], 1 + at // 50_000 % 1, SECOND * (1 + at // 50_000)))
        client.end()
        lines = text.decode().splitlines()
        for count in (0, 1, 10, 3000, 50_000, 59_999, 60_000, 100_000):
            shown = self.keeper.output(self.token, self.ns, uid, timestamps="true", tailLines=count).splitlines()
            self.assertEqual([line.split(" ", 1)[1] for line in shown], lines[-count:] if count else [], count)
        since = self.keeper.output(self.token, self.ns, uid, timestamps="true", sinceTime="1970-01-01T00:00:30Z").splitlines()
        # A line has the time of its first byte.
        first = text.rfind(b"\n", 0, 29 * 50_000) + 1
        first = first if first == 29 * 50_000 else text.index(b"\n", 29 * 50_000) + 1
        self.assertEqual([line.split(" ", 1)[1] for line in since], text[first:].decode().splitlines())

    def test_a_log_is_followed(self) -> None:
        uid = self.uid()
        client = self.entered(uid)
        client.frame(0, chunk(b"one\n"))
        client.wait_ack(4)
        got: list[str] = []
        reader = threading.Thread(target=lambda: got.append(self.keeper.output(self.token, self.ns, uid, follow="true")))
        reader.start()
        position = 4
        for n in range(5000):
            text = b"line %d of those that come while somebody reads, so that frames are made of them\n" % n
            client.frame(position, chunk(text))
            position += len(text)
        self.assertTrue(reader.is_alive())
        client.end()
        reader.join(60)
        self.assertEqual(got[0].count("\n"), 5001)
        self.assertTrue(got[0].endswith("line 4999 of those that come while somebody reads, so that frames are made of them\n"))

    def test_what_is_listed(self) -> None:
        uid, failed = self.uid(), self.uid()
        self.stored(uid, "one\n", job="resnet")
        client = self.entered(failed, job="bert", ranks=2, lease=4, attempt=3)
        client.frame(0, chunk(b"x\n"))
        client.end("signaled", 137)
        client.close()
        by_name = {attempt["job"]: attempt for attempt in self.keeper.attempts(self.token, self.ns) if attempt["uid"] in (uid, failed)}
        self.assertEqual((by_name["resnet"]["outcome"], by_name["resnet"]["exitCode"], by_name["resnet"]["attempt"]), ("exited", 0, 0))
        self.assertEqual(("end" in by_name["bert"], by_name["bert"]["ranks"], by_name["bert"]["attempt"]), (False, 2, 3))
        second = self.entered(failed, job="bert", ranks=2, lease=4, attempt=3, rank=1)
        second.end()
        (ended,) = self.keeper.attempts(self.token, self.ns, job="bert", uid=failed)
        self.assertEqual((ended["outcome"], ended["exitCode"]), ("signaled", 137))
        self.assertEqual(self.keeper.attempts(self.token, self.ns, job="other"), [])
