# SPDX-License-Identifier: Apache-2.0
"""Many jobs and many lines. The bounds here are generous, for slow machines; bench/run page measures the times."""

import threading
import time

from tests.page.page_case import PageCase
from tests.page.played_objects import COLUMNS, everything, job_rows


class VolumeTest(PageCase):
    def test_ten_thousand_jobs(self):
        def plays(topic):
            if topic.get("table") != "gpujobs":
                yield from everything(topic)
                return
            rows = job_rows(10_000)
            yield {"columns": COLUMNS, "reset": True}
            for i in range(0, len(rows), 500):
                yield {"rows": rows[i:i + 500]}
            yield {"complete": True}
        server, page = self.stub(plays), self.page()
        page.open(server.url + "#/jobs")
        page.wait_text("10000 jobs")
        self.assertLess(page.run("document.querySelectorAll('.job-row').length"), 120)
        page.run("document.querySelector('.virtual').scrollTop = 1e9")
        page.wait("[...document.querySelectorAll('.job-row a')].length > 5")
        page.run("(() => { const find = document.querySelector('input[type=search]'); find.value = 'job-9999'; find.dispatchEvent(new Event('input')); })()")
        page.wait_text("1 job", "main")
        page.wait_text("lab/job-9999", "main")

    def test_many_lines_keep_memory_and_screen_in_order(self):
        looked = threading.Event()

        def plays(topic):
            if not topic.get("log"):
                yield from everything(topic)
                return
            yield {"begin": True}
            for batch in range(80):
                yield {"lines": [[i % 4, 1767323045000, f"line {1000 * batch + i}"] for i in range(1000)]}
            looked.wait(60)  # a page begins anew with a log whose stream ends
        server, page = self.stub(plays), self.page()
        self.addCleanup(looked.set)
        page.open(server.url + "#/jobs/lab/resnet")
        page.wait_text("line 79999", ".log")
        self.assertLess(page.run("document.querySelectorAll('.line').length"), 200)
        told = page.text("main")
        self.assertRegex(told, r"older ones are not kept here")
        kept = int(page.run("document.querySelector('#log + .tools [role=status]').innerText.match(/(\\d+) lines/)[1]"))
        self.assertLessEqual(kept, 50_000)
        self.assertGreater(kept, 30_000)

    def test_who_scrolls_up_is_not_pulled_down(self):
        def plays(topic):
            if not topic.get("log"):
                yield from everything(topic)
                return
            yield {"begin": True}
            for batch in range(10_000):
                yield {"lines": [[0, 1767323045000, f"line {10 * batch + i}"] for i in range(10)]}
                time.sleep(0.005)
        server, page = self.stub(plays), self.page()
        page.open(server.url + "#/jobs/lab/resnet")
        page.wait("Number(document.querySelector('#log + .tools [role=status]')?.innerText.match(/(\\d+) lines/)?.[1]) >= 500")
        page.run("(() => { const box = document.querySelector('.log'); box.scrollIntoView(); box.focus(); })()")
        page.press("PageUp")
        page.wait("(() => { const box = document.querySelector('.log'); return box.scrollTop + box.clientHeight < box.scrollHeight - 400; })()")
        self.assertFalse(page.run("[...document.querySelectorAll('label')].find((l) => l.textContent.includes('Follow')).querySelector('input').checked"))
