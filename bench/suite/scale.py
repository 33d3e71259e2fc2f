"""What the operator costs with so many nodes, jobs and workers: memory, start, work of an event, a new list of all."""

import time

from suite.burst import submit
from suite.growth import exponent
from suite.plane import POOL_LABEL

from fake_plugins import FakePlugins  # after suite.plane, which says where it is

POOL = "shared"
SLICES = 10  # of each node: a job has one
KINDS = 8  # that the operator watches
QUIET = 0.5  # seconds without work: all that was asked is done
SETTLE_LIMIT = 600


class Rows:
    """Results of each size, and how they grow."""

    def __init__(self, results, sizes):
        self._results, self._several = results, len(sizes) > 1
        self._points = {}

    def add(self, size, what, value, unit, grows=True):
        self._results.add("scale", f"{size // SLICES} nodes, {size} jobs: {what}", value, unit)
        if grows:
            self._points.setdefault(what, []).append((size, value))

    def exponents(self):
        for what, points in self._points.items():
            found = exponent(points) if self._several else None
            if found is not None:
                self._results.add("scale", f"exponent: {what}", found, "")


def _settled_cpu(operator):
    """Seconds, once it has nothing to do."""
    end = time.monotonic() + SETTLE_LIMIT
    cpu, since = operator.cpu_seconds(), time.monotonic()
    while time.monotonic() - since < QUIET:
        time.sleep(0.1)
        now = operator.cpu_seconds()
        if now - cpu > 0.011:  # a tick now and then is no work
            cpu, since = now, time.monotonic()
        if time.monotonic() > end or not operator.running():
            raise RuntimeError("the operator does not come to rest\n" + operator.log()[-2000:])
    return operator.cpu_seconds()


def _add_nodes(plane, plugins, count):
    """Slices for a node of the sharing pool: as its device plugin reports them, and all free to the kubelet."""
    before = plane.pools.get(POOL, 0)
    plane.need_nodes(count, POOL, gpus=0, sharing={"deviceSplitCount": SLICES})
    plane.each(lambda index: plugins.add(f"{POOL}-{index:05}", split=SLICES), range(before, count))


def _add_jobs(plane, rows, size, count):
    """All of them running."""
    with plane.player(-1, "--shared", 1, "--threads", 16) as player, plane.operator() as operator:
        cpu = _settled_cpu(operator)
        submit(plane, [operator, player], POOL, count, "--end", "stay", "--slices", 1, "--limit", 3600)
        rows.add(size, "CPU of a new job", (_settled_cpu(operator) - cpu) / count * 1e3, "ms")


def _start(operator, rows, size, base):
    """As after an upgrade: nothing is left to write."""
    rows.add(size, "start to ready", operator.ready_after, "s")
    rows.add(size, "CPU until nothing is left to do", _settled_cpu(operator), "s")
    memory = operator.memory_mib()
    rows.add(size, "memory", memory, "MiB", grows=False)
    rows.add(size, "memory beyond an empty one's", memory - base, "MiB")
    rows.add(size, "bytes a job, with its Job, pod, and a tenth of a node", (memory - base) * (1 << 20) / size, "bytes",
             grows=False)
    rows.add(size, "memory at most, since the start", operator.memory_mib("VmHWM"), "MiB", grows=False)


def _events(plane, operator, rows, size, count):
    """Changes that mean nothing, of all nodes and pods in turn."""
    for kind in ("nodes", "pods"):
        query = {"labelSelector": f"{POOL_LABEL}={POOL}"} if kind == "nodes" else {}
        objects = plane.api.list(kind, resourceVersion="0", limit=count, **query)

        def touch(index, kind=kind, objects=objects):
            meta = objects[index % len(objects)]["metadata"]
            change = {"metadata": {"annotations": {"bench/touched": str(index)}}}
            plane.api.patch(kind, meta["name"], change, meta.get("namespace"))
        cpu = _settled_cpu(operator)
        plane.each(touch, range(count))
        rows.add(size, f"CPU of an event of {kind}", (_settled_cpu(operator) - cpu) / count * 1e3, "ms")


def _relist(plane, operator, rows, size):
    """A server that starts again, and has seen a write since, cannot go on with any watch: everything is listed."""
    cpu, memory = _settled_cpu(operator), operator.memory_mib()
    operator.forget_peak()
    plane.audit.begin()
    with operator.paused():
        plane.namespace()
        plane.restart_api_server()
    lists = plane.wait_for_lists(operator, KINDS)
    spent = _settled_cpu(operator) - cpu
    rows.add(size, "lists after the watches were lost", lists, "lists", grows=False)
    rows.add(size, "CPU of listing all again", spent, "s", grows=False)
    rows.add(size, "memory at most, listing all again / before", operator.memory_mib("VmHWM") / memory, "x",
             grows=False)


def measure(results, plane, sizes, events):
    """Of each size the jobs, all running, with a worker each; a node for ten of them."""
    rows, plugins, before = Rows(results, sizes), FakePlugins(plane.api), 0
    with plane.operator() as operator:
        _settled_cpu(operator)
        base = operator.memory_mib()
    for size in sizes:
        _add_nodes(plane, plugins, size // SLICES)
        _add_jobs(plane, rows, size, size - before)
        with plane.operator() as operator:
            _start(operator, rows, size, base)
            _events(plane, operator, rows, size, events)
            if size == sizes[-1]:
                _relist(plane, operator, rows, size)
        before = size
    rows.exponents()
