"""How long things take that somebody waits for: the operator beside the floor, idle and during a burst."""

import statistics
import threading

from suite.burst import submit
from suite.plane import PATIENCE, POOL
from suite.programs import call

LOSS = "node not ready to lease moved"


def _milliseconds(output):
    """Of the entries that are a time from one thing to another."""
    for entry in output["results"]:
        if " to " in entry["name"]:
            factor = 1e3 if entry["unit"] == "s" else 1
            yield {**{key: value * factor if isinstance(value, float) else value for key, value in entry.items()},
                   "unit": "ms"}


class Rows:
    def __init__(self, results, benchmark):
        self._results, self._benchmark = results, benchmark
        self._medians = {}  # (name, subject) -> [ms]

    def take(self, subject, output):
        for entry in _milliseconds(output):
            self._medians.setdefault((entry["name"], subject), []).append(entry["value"])
            self._results.take(self._benchmark, {"results": [{**entry, "name": f"{entry['name']}: {subject}"}]})

    def differences(self):
        for (name, subject), medians in self._medians.items():
            if subject == "operator":
                floor = statistics.median(self._medians[name, "floor"])
                self._results.add(self._benchmark, f"{name}: operator beyond the floor",
                                  statistics.median(medians) - floor, "ms")


def _subjects(plane):
    """The operator waits for a pool's patience first, which is its promise and not its speed."""
    yield "floor", plane.floor("--watch-nodes", 1), 0
    yield "operator", plane.operator(), PATIENCE * 1000


def _losses(plane, services, jobs, lanes, patience):
    return call("bench_loss", "--kubeconfig", plane.kubeconfig, "--namespace", plane.namespace(), "--pool", POOL,
                "--jobs", jobs, "--lanes", lanes, "--patience-ms", patience, beside=services)


def idle(results, plane, jobs, losses, nodes, runs):
    """One job after the other, for an operator that has nothing else to do."""
    plane.need_nodes(nodes)
    rows = Rows(results, "latency, idle")
    for _ in range(runs):
        with plane.player(0) as player:
            for name, subject, patience in _subjects(plane):
                with subject as service:
                    rows.take(name, submit(plane, [service, player], POOL, jobs, "--threads", 1, "--gap-ms", 200))
                    rows.take(name, _losses(plane, [service, player], losses, 4, patience))
    rows.differences()


def busy(results, plane, jobs, losses, nodes, runs):
    """While so many jobs come at once, again and again."""
    plane.need_nodes(nodes)
    rows = Rows(results, f"latency, bursts of {jobs} on {plane.nodes} nodes")
    for _ in range(runs):
        with plane.player(0) as player:
            for name, subject, patience in _subjects(plane):
                with subject as service:
                    _busy(plane, rows, name, [service, player], jobs, losses, patience)
    rows.differences()


def _busy(plane, rows, name, services, jobs, losses, patience):
    done, problems = threading.Event(), []

    def burst():
        try:
            while not done.is_set():
                rows.take(name, submit(plane, services, POOL, jobs))
        except RuntimeError as problem:
            problems.append(problem)
    thread = threading.Thread(target=burst)
    thread.start()
    try:
        rows.take(name, _losses(plane, services, losses, 8, patience))
    finally:
        done.set()
        thread.join()
    if problems:
        raise problems[0]
