# SPDX-License-Identifier: Apache-2.0
"""The page with logs of real kubelets, in a real browser."""

import subprocess

from tests.e2e.logs_case import LogsCase
from tests.page.browser import Browser, Page

# What a program may print: markup, colours, bytes that are no text, a progress bar, a line that is cut, many lines. Less
# than 1 MiB, or the kubelet may rotate the log before the page opens it.
PRINTS = r"""
echo "<img src=x onerror='window.broken = 1'>"
printf '\033[31mred\033[0m bytes \377\376 end\n'
printf '10%%\r50%%\rall of it\n'
head -c 300000 /dev/zero | tr '\0' x; echo
i=0; while [ $i -lt 10000 ]; do i=$((i+1)); echo "line $i of $RANK loss=0.5"; done
echo "last of $RANK"
sleep 3600
"""


FOLLOW = "[...document.querySelectorAll('label')].find((l) => l.textContent.includes('Follow')).querySelector('input')"
FIND = "document.querySelector('#log + .tools input[type=search]')"


class PageTest(LogsCase):
    def page_of(self, job: str) -> Page:
        server = subprocess.Popen(self.command("web"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.terminate)
        address = server.stdout.readline().strip()
        page = self.enterContext(Browser()).new_page()
        page.size(1280, 900)
        page.open(f"{address}&/jobs/{self.namespace}/{job}")
        page.wait(FIND, seconds=120)
        return page

    def test_a_gang_is_watched_and_suspended(self):
        job = self.gang("watched", PRINTS, metrics={"names": ["loss"]})
        page = self.page_of("watched")
        for text, shown in (("last of", ["last of 0", "last of 1", "last of 2"]), ("line 10000 ", ["line 10000 of 0", "line 10000 of 2"])):
            page.run(f"(() => {{ const field = {FIND}; field.value = {text!r}; field.dispatchEvent(new Event('input')); }})()")
            for line in shown:
                page.wait_text(line, ".log", seconds=120)
        page.wait("document.querySelector('.chart canvas')")
        page.run("location.hash = '#/nodes'")
        page.wait_text(f"{self.namespace}/watched-1-0")
        page.run(f"location.hash = '#/jobs/{self.namespace}/watched'")
        page.wait("[...document.querySelectorAll('.actions button')].some((b) => b.textContent === 'Suspend' && !b.disabled)")
        page.run("[...document.querySelectorAll('.actions button')].find((b) => b.textContent === 'Suspend').click()")
        page.wait("document.querySelector('.confirm button')")
        page.run("document.querySelector('.confirm button').click()")
        job.wait_phase("Suspended")
        page.wait_text("Suspended", ".state")
        self.assertEqual([], page.complaints())
        self.assertEqual([], [r["url"] for r in page.requests() if not r["url"].startswith(("http://127.0.0.1:", "about:", "data:"))])

    def test_what_a_program_prints_is_text(self):
        job = self.submit("prints", PRINTS.replace("10000", "200"))
        job.wait_phase("Running")
        page = self.page_of("prints")
        page.wait_text("last of", ".log")
        page.run(f"{FOLLOW}.click()")
        page.wait(f"!({FOLLOW}.checked)")
        page.run("document.querySelector('.log').scrollTop = 0")
        for text in ("<img src=x onerror='window.broken = 1'>", "red bytes", "end", "all of it", "characters]", "line 1 of"):
            page.wait_text(text, ".log")
        self.assertNotIn("50%", page.text(".log"))
        self.assertIsNone(page.run("window.broken"))
        self.assertEqual([], page.complaints())
