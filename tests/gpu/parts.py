# SPDX-License-Identifier: Apache-2.0
"""The parts of tests/gpu/run about memory. Each measures from outside what programs in a slice do, and writes a report."""

import dataclasses
import time
from typing import Callable

from tests.gpu import region_file
from tests.gpu.outside import Gpu
from tests.gpu.programs import ARRAYS_AT_A_TIME
from tests.gpu.report import MIB, Report
from tests.gpu.slices import Child, Slice

OF_THE_GPU = 5  # a slice is a fifth of it
TOLERANCE = 16 * MIB  # M9, M10
USABLE = 0.98  # M9: of what the contexts leave
BLOCK = 2 * MIB
SPEED_RUNS = 3
KILLS, KILL_SECONDS = 3, 1
LONGEST_ABOVE_MS = 5  # one reading
AGAIN = 1.2  # seconds until contexts are measured again


@dataclasses.dataclass
class Machine:
    """The GPU, and how slices are made of it."""
    gpu: Gpu
    limited: bool
    in_namespaces: bool

    def slice(self, limited: bool = True) -> Slice:
        return Slice(self.gpu.uuid, self.gpu.memory().total // MIB // OF_THE_GPU, limited and self.limited, self.in_namespaces)

    def taken(self, programs: dict[int, Child], before: int) -> int:
        """What programs use as seen from outside, by the GPU's sum where NVML does not tell of processes. The sum has what the kernel
        driver keeps for itself too, 6 to 9 MiB a program on an H100."""
        by_process = [self.gpu.process(pid) for pid in programs]
        assert all(child.process.poll() is None for child in programs.values()), "a program has ended"
        told = [each for each in by_process if each is not None]
        return sum(told) if len(told) == len(programs) else self.gpu.used() - before


def sizes(machine: Machine, report: Report) -> None:
    """M8: what programs read of the slice's size, by CUDA and by NVML."""
    with machine.slice() as slices:
        child = slices.start("sizes")
        empty, taken, freed = child.read()
        child.end()
        for name, row in (("empty", empty), ("with 256 MiB", taken), ("freed", freed)):
            report.mib(f"total, {name}", row["total"], slices.limit, slices.limit)
            report.mib(f"cuDeviceTotalMem, {name}", row["device"], slices.limit, slices.limit)
            report.mib(f"total by NVML less total by CUDA, {name}", abs(row["nvml_total"] - row["total"]), at_most=MIB)
            report.mib(f"free by NVML less free by CUDA, {name}", abs(row["nvml_free"] - row["free"]), at_most=MIB)
            report.mib(f"free, {name}", row["free"], at_most=slices.limit)
        report.mib("free that 256 MiB take", empty["free"] - taken["free"], 256 * MIB, 256 * MIB)
        report.mib("free that they give back", freed["free"] - taken["free"], 256 * MIB, 256 * MIB)


def fill_slice(machine: Machine, report: Report, name: str, programs: int, *arguments: str) -> None:
    """M9: these programs together take all that is to be had."""
    with machine.slice() as slices:
        before = machine.gpu.used()
        children = [slices.start(*arguments) for _ in range(programs)]
        for first in [child.read() for child in children]:
            if "missing" in first:
                report.missing.append(f"{first['missing']}: not installed, so {name} was not measured")
                return
        for child in children:
            child.go_on()
        said = [child.read() for child in children]
        errors = [row["error"] for row in said if "error" in row]
        taken = sum(row.get("taken", 0) for row in said)
        outside = machine.taken({row["pid"]: child for child, row in zip(children, said)}, before)
        contexts = slices.counted(region_file.CONTEXT)
        report.mib(f"used as seen from outside, {name}", outside, at_most=slices.limit + TOLERANCE)
        report.mib(f"used of the GPU beside that, {name}", machine.gpu.used() - before - outside)
        report.mib(f"contexts, {name}", contexts)
        if all("taken" in row for row in said):
            report.value(f"part of the slice less contexts that is to be had, {name}", taken / max(slices.limit - contexts, 1),
                         "ratio", at_least=USABLE)
        report.value(f"failures, {name}: {'; '.join(errors)}", len(errors), "count", at_most=0)
        for child in children:
            child.end()


def fill(machine: Machine, report: Report) -> None:
    """M9, M7: one program, and three at once, fill the slice; so does one by pools."""
    fill_slice(machine, report, "one program", 1, "fill")
    fill_slice(machine, report, "three programs", 3, "fill")
    fill_slice(machine, report, "pools", 1, "fill", "async")


def contexts(machine: Machine, report: Report) -> None:
    """M10: a context, 100 modules and a larger stack, as charged and as NVML says."""
    with machine.slice() as slices:
        before = machine.gpu.used()
        child = slices.start("contexts")
        row = child.read()
        while True:
            time.sleep(AGAIN)
            child.next()
            outside = machine.taken({row["pid"]: child}, before)
            report.mib(f"used as seen from outside, {row['step']}", outside)
            report.mib(f"charged less that, {row['step']}", abs(slices.counted() - outside), at_most=TOLERANCE)
            if row["step"] == "stack":
                break
            row = child.next()
        child.end()
        report.value("bits of the state; 32: contexts are not measured but estimated", slices.state(), "bits", at_most=0)


def small(machine: Machine, report: Report) -> None:
    """The granule of small allocations: by the driver, and as charged."""
    rows = {}
    for name, limited in (("driver", False), ("charged", True)):
        with machine.slice(limited) as slices:
            child = slices.start("small")
            rows[name] = child.read()
            child.end()
        for number, (allocations, size) in enumerate(rows[name]["drops"]):
            report.mib(f"{name}: block {number + 1}, after {allocations} allocations of 1 byte", size)
        report.value(f"{name}: distance of allocations of 1 byte", rows[name]["spacing"], "bytes")
    drops = [[size for _, size in rows[name]["drops"]] for name in ("driver", "charged")]
    report.value("blocks that are charged otherwise than the driver takes them",
                 sum(a != b for a, b in zip(*drops)) + abs(len(drops[0]) - len(drops[1])), "count", at_most=0)
    report.mib("largest block of the driver", max(drops[0], default=0), BLOCK, BLOCK)


def compare(machine: Machine, report: Report, name: str, what: str, at_a_time: int) -> None:
    """A program that says what each step takes and what the driver tells of it, with and without the limiter. A step makes so many
    things; small ones, which share a block of the driver, may be charged a block each."""
    rows = []
    for limited in (False, True):
        with machine.slice(limited) as slices:
            child = slices.start(name)
            rows.append(child.read())
            child.end()
    for step, (taken, told) in rows[0].items():
        charged = rows[1][step][0]
        report.mib(f"{step}: taken by the driver", taken)
        report.mib(f"{step}: {what}", told)
        more = at_a_time * BLOCK if 0 < told < BLOCK else BLOCK
        report.mib(f"{step}: charged less taken", charged - taken, at_most=more, at_least=-BLOCK)


def pools(machine: Machine, report: Report) -> None:
    """Growth of pools: what a first request takes."""
    compare(machine, report, "pools", "reserved as the pool says", 1)


def arrays(machine: Machine, report: Report) -> None:
    """Sizes of arrays, four of each kind."""
    compare(machine, report, "arrays", "size of one, as a deferred twin says", ARRAYS_AT_A_TIME)


def orders(machine: Machine, report: Report) -> None:
    """M7: the orders in which NCCL and vLLM give memory back; fork and exec."""
    with machine.slice() as slices:
        child = slices.start("orders")
        for name, (during, after) in child.read().items():
            report.mib(f"taken during {name}", during, 64 * MIB, 64 * MIB)
            report.mib(f"left after {name}", after, 0, 0)
        child.end()
        other = slices.start("sizes")  # clears what the first has left
        other.read()
        report.mib("charged beside contexts when the program has ended", slices.counted() - slices.counted(region_file.CONTEXT), 0, 0)
        other.end()


def kills(machine: Machine, report: Report) -> None:
    """A program that holds the whole slice is killed while another takes what it left: how far above the slice they are, how long."""
    highest, longest, left = 0, 0.0, 0
    for _ in range(KILLS):
        with machine.slice() as slices:
            before = machine.gpu.used()
            holder, heir = slices.start("fill"), slices.start("fill", "plain", str(KILL_SECONDS))
            holder.read()
            heir.read()
            holder.next()
            holder.process.kill()
            heir.go_on()
            begin, over = time.monotonic(), 0.0
            last, was_above = begin, False
            while time.monotonic() - begin < KILL_SECONDS + 0.5:
                used, now = machine.gpu.used() - before, time.monotonic()
                highest = max(highest, used - slices.limit)
                is_above = used > slices.limit + TOLERANCE
                if is_above and was_above:  # one look says nothing of time: this program may not have run for long since
                    over += now - last
                last, was_above = now, is_above
            longest = max(longest, over)
            said = heir.read()
            left = max(left, slices.limit - slices.counted(region_file.CONTEXT) - said["taken"])
            heir.end()
    report.mib("highest use less the slice, of the GPU's sum", highest)
    report.value("longest time above the slice", longest * 1000, "ms", at_most=LONGEST_ABOVE_MS)
    report.mib("most that the next program did not get of the slice less its context", left, at_most=BLOCK)


def speed(machine: Machine, report: Report) -> None:
    """What calls take with the limiter and without, in this order and again: the best of each."""
    best: dict[tuple[str, bool], float] = {}
    for limited in (True, False) * SPEED_RUNS:
        with machine.slice(limited) as slices:
            child = slices.start("speed")
            for name, nanoseconds in child.read().items():
                best[name, limited] = min(nanoseconds, best.get((name, limited), nanoseconds))
            child.end()
    for name, limited in best:
        report.value(f"{name}, {'in a slice' if limited else 'without the limiter'}", best[name, limited], "ns")


PARTS: dict[str, Callable[[Machine, Report], None]] = {part.__name__: part for part in (
    sizes, fill, contexts, small, pools, arrays, orders, kills, speed)}
