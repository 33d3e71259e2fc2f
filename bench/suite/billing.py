# SPDX-License-Identifier: Apache-2.0
"""Bills: what a price and a ledger add to a burst of jobs, and how late the books are."""

import json
import os
import subprocess
import tempfile
import time
from typing import Any

from bench.suite.audit import name_of, time_of
from bench.suite.burst import count_requests, submit
from bench.suite.plane import POOL, Plane
from bench.suite.programs import Service, binary, within
from bench.suite.results import Results
from tests.kit.manifests import PRICE

PRICED = "priced"
HELD = 2000  # ms that a job runs: the books are in seconds


class Ledger(Service):
    agent = "gpupool-ledger"

    def __init__(self, plane: Plane, folder: str) -> None:
        self._database = os.path.join(folder, "ledger.db")
        super().__init__("gpupool-ledger", "serve", "--kubeconfig", plane.kubeconfig, "--database", self._database,
                         "--health-bind-address", "127.0.0.1:0")

    def wait_until_ready(self) -> None:
        self.wait_for("its books", lambda: "keeping the books" in self.log())

    def entries(self, after: int) -> list[Any]:
        done = subprocess.run([binary("gpupool-ledger"), "export", "--database", self._database, "--after", str(after)],
                              capture_output=True, text=True, check=True, timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def wait_entries(self, after: int, count: int) -> list[Any]:
        end = time.monotonic() + within(120)
        while len(entries := self.entries(after)) < count:
            if time.monotonic() > end:
                raise RuntimeError(f"the books have {len(entries)} of {count} entries\n{self.log()[-2000:]}")
            time.sleep(0.2)
        return entries


def measure(results: Results, plane: Plane, jobs: int, nodes: int, runs: int) -> None:
    """The same jobs in a pool without a price, and in one with a price beside a ledger, in turn."""
    plane.need_nodes(nodes)
    plane.need_nodes(nodes, PRICED, price=PRICE)
    benchmark = f"bills of {jobs} jobs"
    with tempfile.TemporaryDirectory() as folder, Ledger(plane, folder) as ledger, plane.player(HELD) as player:
        for number in range(runs):
            for name, pool, arguments in (("without a price", POOL, ()), ("with a price and a ledger", PRICED, ("--ledger",))):
                with plane.operator(*arguments) as operator:
                    plane.audit.begin()
                    cpu = ledger.cpu_seconds()
                    submit(plane, [operator, ledger, player], pool, jobs)
                    requests = list(plane.audit.entries())
                    count_requests(results, f"{benchmark}, {name}", plane, operator.agent, jobs, requests)
            entries = ledger.wait_entries(number * jobs, jobs)
            results.add(benchmark, "ledger CPU a job", (ledger.cpu_seconds() - cpu) / jobs * 1e3, "ms")
            results.add(benchmark, "ledger memory", ledger.memory_mib(), "MiB")
            released = _released(requests)
            late = sorted(entry["entered"] - released[entry["body"]["job"]] for entry in entries)
            for what, second in (("p50", late[len(late) // 2]), ("p99", late[len(late) * 99 // 100]), ("at most", late[-1])):
                results.add(benchmark, f"segment in the status to its entry, {what}", second, "s")


def _released(requests: list[Any]) -> dict[str, int]:
    """By job: the second in which its status got its segment. That is the last write but one: its lease is given back."""
    writes: dict[str, list[float]] = {}
    for request in requests:
        if name_of(request) == "update gpujobs/status" and request["responseStatus"]["code"] == 200:
            writes.setdefault(request["objectRef"]["name"], []).append(time_of(request["stageTimestamp"]))
    return {job: int(sorted(times)[-2]) for job, times in writes.items()}
