# SPDX-License-Identifier: Apache-2.0
"""Whatever a job prints is shown as text, and nothing of it runs or leaves the machine."""

from tests.page.page_case import PageCase
from tests.page.played_objects import everything, job

HOSTILE = ["<script>window.broken = 1</script>", "<img src=x onerror='window.broken = 2'>", "\x1b[31mred\x1b[0m \x1b]0;title\x07after",
           "a\x00b\x08c\x7f", "\u202egnp.exe", "</div></main><h1 id='forged'>forged</h1>", "${window.broken = 3}", "javascript:alert(1)"]


def hostile(topic):
    if topic.get("log"):
        yield {"begin": True}
        yield {"lines": [[0, 1767323045000, text] for text in HOSTILE]}
        yield {"lines": [[0, 1767323045000, "x" * 1_000_000]]}
        yield {"note": HOSTILE[0], "problem": True}
        return
    if topic.get("objects") == "gpujobs":
        yield {"reset": True, "objects": [["lab/resnet", job(message=HOSTILE[1], reason=HOSTILE[0], nodeNames=HOSTILE[5])]]}
        yield {"complete": True}
        return
    yield from everything(topic)


class TextTest(PageCase):
    def test_hostile_lines_stay_text(self):
        server, page = self.stub(hostile), self.page()
        page.open(server.url + "#/jobs/lab/resnet")
        page.wait_text("! <script>", ".log")
        shown = page.text(".log")
        for text in ("<script>window.broken = 1</script>", "<img src=x onerror='window.broken = 2'>", "red after", "abc", "gnp.exe",
                     "<h1 id='forged'>forged</h1>", "characters]"):
            self.assertIn(text, shown)
        self.assertNotIn("\x1b", shown)
        self.assertNotIn("\u202e", shown)
        self.assertIn("<img src=x", page.text("main"))
        self.assertIsNone(page.run("window.broken ?? document.getElementById('forged')"))
        self.assertLess(page.run("Math.max(...[...document.querySelectorAll('.line')].map((line) => line.textContent.length))"), 9000)
        self.assert_no_complaints(page)

    def test_scripts_of_others_are_stopped(self):
        """The policy itself: what would run if a line became part of the page."""
        server, page = self.stub(everything), self.page()
        page.open(server.url + "#/pools")
        page.wait_text("gpus")
        page.run("""(() => { const made = document.createElement('div'); made.innerHTML = "<img src=x onerror='window.broken = 4'>";
                    document.body.append(made); const script = document.createElement('script'); script.textContent = 'window.broken = 5';
                    document.body.append(script); })()""")
        page.run("fetch('http://127.0.0.1:1/').catch(() => 0)")
        self.assertIsNone(page.run("window.broken"))
        self.assertTrue([c for c in page.complaints() if "Content Security Policy" in c])

    def test_nothing_is_asked_of_another_host(self):
        server, page = self.stub(everything), self.page()
        for view in ("pools", "nodes", "jobs", "sweeps", "usage", "jobs/lab/resnet", "pools/gpus", "sweeps/lab/tune"):
            page.open(server.url + f"#/{view}")
            page.wait("document.querySelector('main h1')")
        self.assertEqual([], [r["url"] for r in page.requests() if not r["url"].startswith((server.url, "about:", "data:"))])
        self.assert_no_complaints(page)
