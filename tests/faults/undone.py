"""The node controller undoes a lease's taint while nobody leads: whoever leads next puts it back."""

import signal
import time
import traceback

from checker.records import LEASE_LABEL, LEASE_TAINT, NODE_CONTROLLER
from duel import leads
from support.api import MERGE_PATCH
from support.waiting import wait_for

RULE = "a lease taint that went while nobody led is back 5 s after somebody leads"
LIMIT = 5.0
STRIKES = (signal.SIGSTOP, signal.SIGKILL)


def undo(api, node):
    url = api.url("nodes", name=node, fieldManager=NODE_CONTROLLER)
    api.call("PATCH", url, {"spec": {"taints": None}}, MERGE_PATCH)


def carries(api, node, lease):
    found = api.get("nodes", node)
    taints = [t.get("value") for t in found["spec"].get("taints", []) if t["key"] == LEASE_TAINT]
    return taints == [lease] and found["metadata"]["labels"].get(LEASE_LABEL) == lease


class Pair:
    """As a supervisor, of two operators of which one was struck."""

    def __init__(self, processes):
        self._processes, self.started = processes, time.monotonic()

    def __enter__(self):
        for process in self._processes:
            process.start()
        wait_for("one of them to lead", lambda: any(leads(process) for process in self._processes), detail=self.show)
        return self

    def __exit__(self, *_):
        for process in self._processes:
            if process.running():
                process.kill()

    def show(self):
        return "\n".join(process.tail() for process in self._processes)

    def strike(self, number):
        """The one that does not lead."""
        first, second = sorted(self._processes, key=leads, reverse=True)
        first.signal(number)
        return second


def taints_come_back(lab, report):
    for number in STRIKES:
        world = lab.new_world()
        with Pair(lab.pair()) as pair:
            world.supervisor = pair
            try:
                _take_over(world, pair, number, report)
            except Exception:  # pylint: disable=broad-exception-caught
                report.failed("--undone", f"{number.name}: {traceback.format_exc()}")


def _take_over(world, pair, number, report):
    job = world.submit(2)
    world.running(job)
    node, lease = job.nodes()[0], job.lease()["id"]
    other = pair.strike(number)
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
