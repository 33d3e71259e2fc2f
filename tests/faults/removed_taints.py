# SPDX-License-Identifier: Apache-2.0
"""Removes a lease's taint while no operator leads, and checks that the next leader puts it back."""

import signal
import time
import traceback
from typing import Any

from tests.faults.checker.records import NODE_CONTROLLER
from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import Report
from tests.faults.operator_pair import leads
from tests.faults.world import World
from tests.kit.api import MERGE_PATCH, Api
from tests.kit.names import LEASE, LEASE_LABEL
from tests.kit.operator_process import OperatorProcess
from tests.kit.waiting import wait_for

RULE = "a lease taint that went while nobody led is back 5 s after somebody leads"
LIMIT = 5.0
SIGNALS = (signal.SIGSTOP, signal.SIGKILL)


def undo(api: Api, node: str) -> None:
    url = api.url("nodes", name=node, fieldManager=NODE_CONTROLLER)
    api.call("PATCH", url, {"spec": {"taints": None}}, MERGE_PATCH)


def carries(api: Api, node: str, lease: str) -> bool:
    found = api.get("nodes", node)
    taints = [t.get("value") for t in found["spec"].get("taints", []) if t["key"] == LEASE]
    return taints == [lease] and found["metadata"]["labels"].get(LEASE_LABEL) == lease


class Pair:
    """Like Supervisor, for two operators of which the leader is stopped."""

    def __init__(self, processes: list[OperatorProcess]) -> None:
        self._processes, self.started = processes, time.monotonic()

    def __enter__(self) -> "Pair":
        for process in self._processes:
            process.start()
        wait_for("one of them to lead", lambda: any(leads(process) for process in self._processes), detail=self.show)
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self._processes:
            if process.running():
                process.kill()

    def show(self) -> str:
        return "\n".join(process.tail() for process in self._processes)

    def stop_leader(self, number: signal.Signals) -> OperatorProcess:
        """The one that does not lead."""
        first, second = sorted(self._processes, key=leads, reverse=True)
        first.signal(number)
        return second


def taints_come_back(lab: FaultLab, report: Report) -> None:
    for number in SIGNALS:
        world = lab.new_world()
        with Pair(lab.pair()) as pair:
            world.supervisor = pair
            try:
                _take_over(world, pair, number, report)
            except Exception:  # pylint: disable=broad-exception-caught
                report.failed("--undone", f"{number.name}: {traceback.format_exc()}")


def _take_over(world: World, pair: Pair, number: signal.Signals, report: Report) -> None:
    job = world.submit(2)
    world.running(job)
    node, lease = job.nodes()[0], job.lease()["id"]
    other = pair.stop_leader(number)
    undo(world.api, node)
    assert not leads(other) and not carries(world.api, node, lease), "somebody leads already"
    world.wait("the other one to lead", lambda: leads(other))
    begin = time.monotonic()
    world.wait(f"node {node} to carry {lease}", lambda: carries(world.api, node, lease))
    seconds = time.monotonic() - begin
    report.checked(RULE)
    if seconds > LIMIT:
        report.violated(RULE)
        report.failed("--undone", f"{number.name}: it took {seconds:.1f} s")
    else:
        report.passed("lease taints put back by the next leader")
    world.tear_down()
