# SPDX-License-Identifier: Apache-2.0
"""The page in a real Chromium, with the server played: how soon many jobs are on the screen, and whether it stays smooth while a
job prints a lot."""

import time
from typing import Any, Iterable

from bench.suite.results import Results
from tests.page.browser import Browser
from tests.page.played_objects import COLUMNS, everything, job_rows
from tests.page.stub_server import StubServer, Topic

BENCHMARK = "page in Chromium"
BATCH = 100  # lines of a message
# Milliseconds between two pictures while a script waits; the longest of them.
FRAMES = """new Promise((done) => { let last = performance.now(), longest = 0; const end = last + %d;
  const look = (now) => { longest = Math.max(longest, now - last); last = now; now < end ? requestAnimationFrame(look) : done(longest); };
  requestAnimationFrame(look); })"""
# Milliseconds from the start of loading to the picture in which a text is shown.
SHOWN = """new Promise((done) => { const look = () => document.body.innerText.includes(%r) ? requestAnimationFrame(() => done(performance.now())) :
  setTimeout(look, 5); look(); })"""


def _jobs(count: int) -> Any:
    rows = job_rows(count)

    def plays(topic: Topic) -> Iterable[dict[str, Any]]:
        if topic.get("table") != "gpujobs":
            yield from everything(topic)
            return
        yield {"columns": COLUMNS, "reset": True}
        for i in range(0, count, 500):
            yield {"rows": rows[i:i + 500]}
        yield {"complete": True}
    return plays


def _lines(rate: int, seconds: float) -> Any:
    def plays(topic: Topic) -> Iterable[dict[str, Any]]:
        if not topic.get("log"):
            yield from everything(topic)
            return
        yield {"begin": True}
        begin = time.monotonic()
        for batch in range(int(rate * seconds / BATCH)):
            yield {"lines": [[i % 4, 1767323045000 + batch, f"step {batch * BATCH + i} loss=0.5 {'x' * 60}"] for i in range(BATCH)]}
            time.sleep(max(0.0, begin + (batch + 1) * BATCH / rate - time.monotonic()))
    return plays


def measure(results: Results, smoke: bool) -> None:
    jobs, rate, seconds = (200, 1000, 1) if smoke else (10_000, 10_000, 8)
    with Browser() as browser:
        page = browser.new_page()
        page.size(1280, 900)
        with StubServer(_jobs(jobs)) as server:
            page.open(server.url + "#/jobs")
            results.add(BENCHMARK, f"{jobs} jobs on the screen", page.run(SHOWN % f"{jobs} jobs"), "ms")
        with StubServer(_lines(rate, seconds)) as server:
            page.open(server.url + "#/jobs/lab/resnet")
            page.wait_text("step ", ".log")
            results.add(BENCHMARK, f"longest gap between pictures, {rate} lines a second", page.run(FRAMES % (700 * seconds)), "ms")
        page.close()
