# SPDX-License-Identifier: Apache-2.0
"""Five kinds of user: each view shows exactly what the API server allows. And attacks on the page's server."""

import concurrent.futures
import http.client
import json
import socket
import ssl
import time

from tests.page.access_case import AccessCase

GROUP = "gpupool.dev/"


class RightsTest(AccessCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tokens = {
            "viewer": cls.user("viewer", ("", "gpupool-viewer"), ("", "gpupool-pool-viewer")),
            "renter": cls.user("renter", (cls.ours, "gpupool-renter"), ("", "gpupool-pool-viewer")),
            "owner": cls.user("owner", ("", "gpupool-owner")),
            "nobody": cls.user("nobody"),
        }
        gone = cls.user("gone", ("", "gpupool-owner"))
        cls.api.delete("serviceaccounts", "gone", cls.ours)
        cls.tokens["gone"] = gone

    def check(self, page, allowed, shown, what):
        if allowed:
            page.wait_text(shown, "main")
        else:
            page.wait_text(f"You may not see {what}.", "main")
            self.assertNotIn(shown, page.text())

    def test_each_view_shows_what_can_i_says(self):
        for name, token in self.tokens.items():
            if name == "gone":
                continue
            everywhere = self.may(name, "list", GROUP + "gpujobs")
            page = self.signed_in(token, "pools", ns="" if everywhere else self.ours)
            with self.subTest(user=name, view="pools"):
                self.check(page, self.may(name, "list", GROUP + "gpupools"), f"{self.mark}-pool", "pools")
            with self.subTest(user=name, view="nodes"):
                page.run("location.hash = '#/nodes'")
                self.check(page, self.may(name, "list", GROUP + "gpunodes"), f"{self.mark}-node", "nodes")
            for ns in (self.ours, self.theirs, ""):
                page.run("(() => { const field = document.querySelector('header .namespace input'); "
                         f"field.value = {ns!r}; field.dispatchEvent(new Event('change', {{bubbles: true}})); }})()")
                for view, what in (("jobs", "job"), ("sweeps", "sweep")):
                    with self.subTest(user=name, view=view, ns=ns):
                        page.run(f"location.hash = '#/{view}'")
                        self.check(page, self.may(name, "list", GROUP + f"gpu{view}", ns), f"{what}-of-{ns or self.theirs}", view)
            for ns in (self.ours, self.theirs):
                with self.subTest(user=name, view="job", ns=ns):
                    page.run(f"location.hash = '#/jobs/{ns}/job-of-{ns}'")
                    self.check(page, self.may(name, "list", GROUP + "gpujobs", ns), "Timeline", "this job")
                    if not self.may(name, "list", GROUP + "gpujobs", ns):
                        continue
                    if not self.may(name, "list", "pods", ns):
                        page.wait_text("You may not read the logs of this job.", "main")
                    may_change = self.may(name, "patch", GROUP + "gpujobs", ns)
                    page.wait("[...document.querySelectorAll('.actions button')].some((b) => ['Suspend', 'Resume'].includes(b.textContent) && "
                              f"b.disabled !== {str(may_change).lower()})")
                    if not may_change:
                        page.wait_text(f"You need the right to patch gpujobs in {ns}.")
            page.close()

    def test_who_is_unknown_sees_nothing(self):
        for token in (self.tokens["gone"], "not-a-token"):
            page = self.signed_in(token, "jobs")
            page.wait_text("does not know these credentials", "main")
            self.assertNotIn("job-of-", page.text())
            page.close()

    def test_a_token_that_ends_is_asked_for_again(self):
        token = self.user("leaves", ("", "gpupool-owner"))
        page = self.signed_in(token, "jobs", ns="")
        page.wait_text(f"job-of-{self.theirs}", "main")
        self.api.delete("serviceaccounts", "leaves", self.ours)
        # The API server knows a token for up to 10 s longer, and a watch that it has begun goes on.
        end = time.monotonic() + 60
        while "Sign in" not in page.text("h1"):
            self.assertLess(time.monotonic(), end)
            for view in ("jobs", "nodes"):
                page.run(f"location.hash = '#/{view}'")
                page.wait("document.querySelector('main h1')")
        where = page.run("location.hash")
        page.run("document.querySelector('textarea').focus()")
        page.type(self.tokens["owner"])
        page.run("document.querySelector('form button').click()")
        page.wait_text({"#/nodes": f"{self.mark}-node", "#/jobs": f"job-of-{self.theirs}"}[where], "main")

    def test_an_action_is_the_visitors(self):
        page = self.signed_in(self.tokens["renter"], f"jobs/{self.ours}/job-of-{self.ours}", ns=self.ours)
        page.wait("[...document.querySelectorAll('.actions button')].some((b) => b.textContent === 'Resume' && !b.disabled)")
        page.run("[...document.querySelectorAll('.actions button')].find((b) => b.textContent === 'Resume').click()")
        page.wait("document.querySelector('.confirm button')")
        page.run("document.querySelector('.confirm button').click()")
        page.wait_text("Resume: done.", "main")
        self.assertFalse(self.api.get("gpujobs", f"job-of-{self.ours}", self.ours)["spec"].get("suspend", False))
        page.wait("[...document.querySelectorAll('.actions button')].some((b) => b.textContent === 'Suspend')")
        uid = self.api.get("gpujobs", f"job-of-{self.theirs}", self.theirs)["metadata"]["uid"]
        for verb in ("suspend", "resume", "cancel"):
            status, _ = self.ask("POST", f"/api/jobs/{self.theirs}/job-of-{self.theirs}/{verb}", json.dumps({"uid": uid}),
                                 Authorization=f"Bearer {self.tokens['renter']}")
            self.assertEqual(403, status)

    def test_no_token_is_written_down(self):
        page = self.signed_in(self.tokens["owner"], "jobs", ns="")
        page.wait_text("job-of-", "main")
        for token in self.tokens.values():
            self.assertNotIn(token[-40:], self.server.log())
            self.assertEqual([], [r["url"] for r in page.requests() if token[-40:] in r["url"]])
        self.assertEqual([], [r["url"] for r in page.requests() if not r["url"].startswith((self.server.url, "about:", "data:"))])


class AttackTest(AccessCase):
    """What anybody who reaches the port can try."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.owner = cls.user("owner", ("", "gpupool-owner"))
        cls.nobody = cls.user("nobody")

    def test_nobody_acts_for_others(self):
        for headers in ({}, {"Authorization": f"Bearer {self.nobody}"}):
            everything = {**headers, "Impersonate_User": "admin", "Impersonate_Group": "system:masters", "X_Remote_User": "admin",
                          "X_Forwarded_User": "admin"}
            status, body = self.ask("POST", "/api/access", '[{"verb":"list","group":"gpupool.dev","resource":"gpujobs"}]', **everything)
            self.assertEqual((401, True) if not headers else (200, True), (status, "true" not in body), body)

    def test_paths_lead_nowhere(self):
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/vendor/../../main.cc", "//etc/passwd", "/index.html/../../x",
                     "/api", "/api/", "/api/../api/session/x", "/api/jobs", "/\\..\\x", "/vendor/LICENSE.htm", "/CMakeLists.txt"):
            status, body = self.ask("GET", path, Authorization=f"Bearer {self.owner}")
            self.assertEqual(404, status, path)
            self.assertNotIn("root:", body)

    def test_names_in_paths_are_names(self):
        for path in (f"/api/jobs/{self.ours}%2f..%2f{self.theirs}/x/cancel", "/api/jobs/..%2f..%2fapi/v1/cancel", f"/api/jobs/{self.ours}/x%3fdryRun=All/cancel"):
            status, _ = self.ask("POST", path, '{"uid":"u"}', Authorization=f"Bearer {self.owner}")
            self.assertEqual(404, status, path)

    def test_other_names_and_sites(self):
        self.assertEqual(421, self.ask("GET", "/", Host="evil.example")[0])
        self.assertEqual(421, self.ask("GET", "/api/session", Host="127.0.0.1.evil.example", Authorization=f"Bearer {self.owner}")[0])
        self.assertEqual(403, self.ask("GET", "/api/session", Sec_Fetch_Site="cross-site", Authorization=f"Bearer {self.owner}")[0])

    def test_large_and_broken_bodies(self):
        for body, expected in (("x" * 70_000, 413), ("{", 400), ('{"topics":' + "[" * 30_000, 400), ('{"topics":[{"id":"a","objects":"secrets"}]}', 400)):
            self.assertEqual(expected, self.ask("POST", "/api/stream", body, Authorization=f"Bearer {self.owner}")[0], body[:40])
        self.assertEqual(411, self.ask("POST", "/api/stream", Authorization=f"Bearer {self.owner}", Transfer_Encoding="chunked")[0])

    def test_plain_http_is_not_served(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=30)
        with self.assertRaises((http.client.HTTPException, OSError)):
            connection.request("GET", "/")
            connection.getresponse()

    def test_old_tls_is_not_spoken(self):
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.set_ciphers("ALL:@SECLEVEL=0")
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=30) as raw, self.assertRaises((ssl.SSLError, OSError)):
            old.wrap_socket(raw)

    def test_a_thousand_silent_connections(self):
        """They end by themselves, and others are served meanwhile or soon after."""
        opened = []
        try:
            for _ in range(1000):
                opened.append(socket.create_connection(("127.0.0.1", self.server.port), timeout=30))
            end = time.monotonic() + 60
            while True:
                try:
                    if self.ask("GET", "/")[0] == 200:
                        break
                except OSError:
                    pass
                self.assertLess(time.monotonic(), end, "the page is not served")
        finally:
            for one in opened:
                one.close()

    def test_who_asks_too_often_waits(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = [answer[0] for answer in pool.map(lambda _: self.ask("GET", "/api/session"), range(300))]
        self.assertIn(429, statuses)
        end = time.monotonic() + 60
        while self.ask("GET", "/api/session", Authorization=f"Bearer {self.owner}")[0] != 200:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.2)

    def test_there_are_no_cookies(self):
        status, body = self.ask("GET", "/api/session", Cookie=f"token={self.owner}")
        self.assertEqual(401, status)
        self.assertIn('"mode":"token"', body)
