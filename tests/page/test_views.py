# SPDX-License-Identifier: Apache-2.0
"""What the views show, by keyboard alone, without colour and on a narrow screen."""

import gzip
import json

from tests.kit.waiting import wait_for
from tests.page.page_case import PageCase
from tests.page.played_objects import everything
from tests.page.stub_server import PAGE, TYPES

VIEWS = {"pools": ["gpus", "8 of 24"], "pools/gpus": ["2 of 3 ready", "1.08 EUR per GPU-hour, follows demand", "Queue", "nlp"],
         "nodes": ["NVIDIA-H100", "lab/resnet-0", "93 % busy", "61 °C"],
         "jobs": ["lab/job-0", "▶ Running", "8 jobs"], "jobs/lab/resnet": ["WorkersRunning", "Timeline", "loss, last", "step 199", "4 running",
                                             "7.00 EUR, 4.80 EUR an hour"],
         "sweeps": ["lab/tune", "4/10"], "sweeps/lab/tune": ["4 of 10 trials", "lr=0.1"], "usage": ["nlp", "2.00"], "bills": ["Nothing is billed in this month"]}


class ViewsTest(PageCase):
    def open(self, view):
        server, page = self.stub(everything), self.page()
        page.open(server.url + f"#/{view}")
        return server, page

    def test_each_view_shows_its_objects(self):
        for view, texts in VIEWS.items():
            with self.subTest(view):
                _, page = self.open(view)
                for text in texts:
                    page.wait_text(text)
                self.assert_no_complaints(page)
                page.close()

    def test_the_price_of_a_pool_is_that_of_now(self):
        page = self.open("pools")[1]
        schedule = [{"from": "2026-01-02T00:00:00Z", "perGpuHour": "3"}, {"from": "2026-01-01T00:00:00Z", "perGpuHour": "2.50",
                     "models": [{"model": "H100", "perGpuHour": "4"}]}]
        pools = [{}, {"price": {"currency": "EUR", "perGpuHour": "1.20", "schedule": schedule,
                                "models": [{"model": "H100", "perGpuHour": "3.10"}]}}]
        days = ["2025-12-31", "2026-01-01", "2026-01-03"]
        told = page.run("import('./format.js').then(({poolPrice}) => JSON.stringify(" + json.dumps(pools) + ".flatMap((spec) => "
                             + json.dumps(days) + ".map((day) => poolPrice({spec}, Date.parse(day + 'T12:00:00Z')) ?? null))))")
        self.assertEqual([None, None, None, "1.2 EUR per GPU-hour, H100 3.1", "2.5 EUR per GPU-hour, H100 4",
                          "3 EUR per GPU-hour, H100 3.1"], json.loads(told))

    def test_the_bill_of_a_month(self):
        server, page = self.stub(everything), self.page()
        line = {"namespace": "lab", "currency": "EUR", "nodes": ["a", "b"], "gpus": 4, "slices": 0, "split": 0, "seconds": 900, "note": ""}
        server.bill = {"month": "2026-10", "closed": True, "totals": {"EUR": "2.350000"}, "lines": [
            {**line, "job": "train", "amount": "2.400001"}, {**line, "job": "train", "gpus": 0, "slices": 1, "split": 4, "nodes": ["c"], "amount": "0.199999"},
            {**line, "job": "train", "seconds": 0, "amount": "-0.250000", "note": "correction of entry 1: <b>broken</b>"}]}
        page.open(server.url + "#/bills")
        for text in ("All namespaces, 2026-10 (UTC), closed", "lab/train", "2.063", "2.350000 EUR", "correction of entry 1: <b>broken</b>"):
            page.wait_text(text)
        page.run("(() => { const month = document.querySelector('[type=month]'); month.value = '2026-09'; month.dispatchEvent(new Event('change')); })()")
        wait_for("the bill of the month", lambda: server.bills[-1] == "namespace=&month=2026-09")
        server.bill_status, server.bill = 403, {"error": "you may not read the bill"}
        page.open(server.url + "#/pools")
        page.open(server.url + "#/bills")
        page.wait_text("you may not read the bill")
        page.close()

    def test_a_curve_is_drawn(self):
        _, page = self.open("jobs/lab/resnet")
        page.wait("document.querySelector('.chart canvas')?.width > 100")
        self.assertRegex(page.text(".chart figcaption"), r"loss, last 0\.00")

    def test_the_keyboard_is_enough(self):
        server, page = self.open("pools")
        page.wait_text("gpus", "main")

        def tab_to(condition):
            for _ in range(60):
                page.press("Tab")
                if page.run(f"(() => {{ const on = document.activeElement; return {condition}; }})()"):
                    return
            self.fail(f"never focused: {condition}")

        for title in ("Nodes", "Jobs", "Sweeps", "Usage", "Pools", "Jobs"):
            tab_to(f"on.matches('nav a') && on.textContent === '{title}'")
            page.press("Enter")
            page.wait_text(title, "main h1")
        page.wait_text("lab/job-0", "main")
        tab_to("on.closest('.job-row') && on.matches('a')")
        page.press("Enter")
        page.wait_text("Job lab/job-", "main h1")
        page.run("location.hash = '#/jobs/lab/resnet'")
        page.wait_text("step 199", "main")
        tab_to("on.textContent === 'Suspend'")
        page.press("Enter")
        page.wait_text("Suspend resnet?", "main")
        tab_to("on.closest('.confirm') && on.textContent === 'Suspend'")
        page.press("Enter")
        page.wait_text("Suspend: done.", "main")
        self.assertIn(("/api/jobs/lab/resnet/suspend", {"uid": "11111111-2222-3333-4444-555555555555"}), server.posts)
        tab_to("on.type === 'search'")
        page.type("step 17 ")
        page.wait_text("1 lines", "main")
        tab_to("on.matches('.log')")
        # What has the focus shows it.
        self.assertNotEqual("none", page.run("getComputedStyle(document.activeElement).outlineStyle"))

    def test_a_narrow_screen_needs_no_sideways_scrolling(self):
        long = "x" * 120  # names may have 253 characters

        def plays(topic):
            for message in everything(topic):
                text = json.dumps(message)
                for name in ("eval", "WorkersRunning", "NVIDIA-H100", "lr=", "nlp", "Good", '"r"'):
                    text = text.replace(name, name[:-1] + long + name[-1:])
                yield json.loads(text)
        server, page = self.stub(plays), self.page()
        page.size(320, 640)
        for view, texts in VIEWS.items():
            with self.subTest(view):
                page.open(server.url + f"#/{view}")
                page.wait_text(texts[0] if texts[0] not in ("NVIDIA-H100", "WorkersRunning", "nlp") else long)
                self.assertLessEqual(page.run("document.documentElement.scrollWidth"), 320)
                page.run("location.hash = '#/usage'")

    def test_without_colours_everything_is_told(self):
        server, page = self.stub(everything), self.page()
        page.call("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
        page.open(server.url + "#/nodes")
        page.wait_text("NVIDIA-H100")
        self.assertEqual("AAB", page.run("[...document.querySelectorAll('.block')].map((b) => b.textContent).join('')"))
        self.assertEqual("3 of 4 slices taken", page.run("document.querySelector('.blocks').getAttribute('aria-label')"))
        page.run("location.hash = '#/jobs'")
        page.wait_text("✗ Failed")

    def test_who_is_not_signed_in_is_asked(self):
        server, page = self.stub(everything), self.page()
        server.status = 401
        page.open(server.url + "#/jobs")
        page.wait_text("Sign in", "h1")
        server.status = 200
        page.run("document.querySelector('textarea').focus()")
        page.type("a.b.c")
        page.run("document.querySelector('form button').click()")
        page.wait_text("lab/job-0")
        asked = [r for r in page.requests() if "/api/" in r["url"]]
        self.assertEqual([], [r["url"] for r in asked if "a.b.c" in r["url"]])
        self.assertEqual("Bearer a.b.c", asked[-1]["headers"].get("Authorization"))
        self.assertEqual("[]", page.run("JSON.stringify(Object.values(sessionStorage).concat(Object.values(localStorage)))"))
        self.assertEqual("", page.run("document.cookie"))

    def test_a_lost_connection_is_made_again(self):
        server, page = self.stub(everything), self.page()
        page.open(server.url + "#/pools")
        page.wait_text("gpus", "main")
        before = len([path for path, _ in server.posts if path == "/api/stream"])
        server.ended.set()  # ends the streams
        page.wait_text("The connection was lost")
        server.ended.clear()
        page.wait("document.querySelector('.connection').innerText === ''")
        self.assertGreater(len([path for path, _ in server.posts if path == "/api/stream"]), before)
        page.wait_text("gpus", "main")

    def test_a_right_that_is_missing_is_named(self):
        def forbidden(topic):
            yield {"error": {"status": 403, "message": "needs list gpujobs"}}
        server, page = self.stub(forbidden), self.page()
        for view, what in (("pools", "pools"), ("nodes", "nodes"), ("jobs", "jobs"), ("sweeps", "sweeps"), ("usage", "pools")):
            page.open(server.url + f"#/{view}")
            page.wait_text(f"You may not see {what}.")
            self.assertIn("needs list gpujobs", page.text())

    def test_the_page_is_small(self):
        size = sum(len(gzip.compress(f.read_bytes(), 9)) for f in PAGE.rglob("*") if f.suffix in TYPES)
        self.assertLess(size, 60 * 1024, json.dumps({"bytes": size}))
