"""What the operator costs with so many jobs in its cache: memory, and the time from start to ready."""

import concurrent.futures
import math
import time

from suite.plane import POOL

from support.jobs import job_manifest  # after suite.plane, which says where it is

SETTLE_LIMIT = 600


def _add_jobs(plane, namespace, first, last):
    """Suspended: they are cached like all others, and hold nothing."""
    def add(index):
        plane.api.create("gpujobs", job_manifest(f"job-{index:06}", namespace, POOL, suspend=True))
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        list(threads.map(add, range(first, last)))


def _settle(plane, operator, namespace, count):
    """Until each job has got its first status."""
    end = time.monotonic() + SETTLE_LIMIT
    while True:
        jobs = plane.api.list("gpujobs", namespace, resourceVersion="0")
        if sum(job.get("status", {}).get("phase") == "Suspended" for job in jobs) >= count:
            return
        if time.monotonic() > end or not operator.running():
            raise RuntimeError("the jobs get no status\n" + operator.log()[-2000:])
        time.sleep(0.5)


def exponent(points):
    """Of cost over size: the slope of a line through their logarithms."""
    logs = [(math.log(size), math.log(cost)) for size, cost in points if cost > 0]
    mean_x = sum(x for x, _ in logs) / len(logs)
    mean_y = sum(y for _, y in logs) / len(logs)
    return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def measure(results, plane, sizes):
    namespace, before, memory, ready = plane.namespace(), 0, [], []
    with plane.operator() as operator:
        base = operator.memory_mib()
    for size in sizes:
        _add_jobs(plane, namespace, before, size)
        before = size
        with plane.operator() as operator:
            _settle(plane, operator, namespace, size)
        with plane.operator() as operator:  # as after an upgrade: nothing is left to write
            name = f"{plane.nodes} nodes, {size} jobs"
            results.add("scale", f"{name}: start to ready", operator.ready_after, "s")
            results.add("scale", f"{name}: memory", operator.memory_mib(), "MiB")
            results.add("scale", f"{name}: memory at most", operator.memory_mib("VmHWM"), "MiB")
            results.add("scale", f"{name}: CPU until ready", operator.cpu_seconds(), "s")
            memory.append((size, operator.memory_mib() - base))
            ready.append((size, operator.cpu_seconds()))
    if len(sizes) > 1:
        results.add("scale", "exponent of memory", exponent(memory), "")
        results.add("scale", "exponent of CPU until ready", exponent(ready), "")
    plane.api.delete("namespaces", namespace)
