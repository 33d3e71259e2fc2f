# SPDX-License-Identifier: Apache-2.0
"""Rules about status.bill: GPU-seconds are counted anew from what the checker has watched."""

import dataclasses
from datetime import datetime
from fractions import Fraction
from typing import Any, Iterator

from tests.faults.checker.records import Job
from tests.faults.checker.rule import Change, Rule
from tests.faults.checker.state import State

HELD = ("Held", "Running", "Restarting")  # states of a lease in which its nodes are billed
MICRO = Fraction(1, 1_000_000)
SECOND = 1.0  # times in a status are cut to whole seconds


def seconds(time: str) -> float:
    return datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp()


def nodes_of(segment: Any, job: Job) -> list[str]:
    """One that names none is of all nodes of the lease."""
    return segment.get("nodes") or sorted(job.nodes)


def amount(segment: Any) -> Fraction:
    """What it costs exactly."""
    gpus = Fraction(segment.get("slices", 0), segment.get("split", 1)) or Fraction(segment.get("gpus", 0))
    time = int(seconds(segment["to"]) - seconds(segment["from"]))
    return Fraction(segment["perGpuHour"]) * gpus * segment["nodeCount"] * time / 3600


class BillAddsUp(Rule):
    """A segment never changes, none is missing, and the sum is what the seconds cost, to less than a millionth for each lease."""

    name = "the segments of a bill stay and add up"

    def __init__(self) -> None:
        super().__init__()
        self.segments: dict[str, dict[int, Any]] = {}  # UID of the job: number: segment, with names of its nodes

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after
        if change.kind != "gpujobs" or not job or not job.bill:
            return
        self.checked += 1
        known = self.segments.setdefault(job.uid, {})
        for segment in job.bill.get("segments", []):
            named = {**segment, "nodes": nodes_of(segment, job)}
            if known.setdefault(segment["number"], named) != named:
                yield f"segment {segment['number']} of {job.key} was {known[segment['number']]} and is {named}"
            if len(named["nodes"]) != segment["nodeCount"] or segment["from"] >= segment["to"]:
                yield f"segment {segment['number']} of {job.key} is {named}"
        if sorted(known) != list(range(1, job.bill["segmentCount"] + 1)):
            yield f"the bill of {job.key} has {job.bill['segmentCount']} segments, seen were {sorted(known)}"
        exact, told = sum(map(amount, known.values())), Fraction(job.bill["cost"])
        if not exact - MICRO * (1 + len(known)) < told <= exact:
            yield f"the bill of {job.key} is {told}, its segments cost {float(exact)}"


class BilledOnce(Rule):
    """Whole nodes. The operators of a test have one clock, and may cut its seconds apart."""

    name = "a second of a node is billed to one job"

    def __init__(self) -> None:
        super().__init__()
        self._billed: dict[str, list[tuple[float, float, str]]] = {}  # node: (from, to, job/number)
        self._seen: set[str] = set()

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.after
        if change.kind != "gpujobs" or not job or not job.bill or job.slices:
            return
        for segment in job.bill.get("segments", []):
            name = f"{job.key}/{job.uid}/{segment['number']}"
            if name in self._seen or segment.get("slices"):
                continue
            self._seen.add(name)
            begin, end = seconds(segment["from"]), seconds(segment["to"])
            for node in nodes_of(segment, job):
                self.checked += 1
                for other_begin, other_end, other in self._billed.setdefault(node, []):
                    if min(end, other_end) - max(begin, other_begin) > SECOND:
                        yield f"node {node} is billed to {name} and {other}"
                self._billed[node].append((begin, end, name))


@dataclasses.dataclass
class Hold:
    """Moments at which the checker saw it."""

    began: float  # at the earliest
    held: float | None = None  # its lease has said so; None: nobody saw that before its end
    silent: float | None = None  # when the node was first not ready, or gone
    ended: float | None = None


class BilledAsHeld(Rule):
    """Each node of a job is billed for as long as the checker has seen it held, within a second and what its watches were
    late. Less only if all its commands had ended, or the node was silent, before the lease said so."""

    name = "a bill has the seconds for which nodes were held"
    LATE = 2.0  # seconds: the operator works, and its write comes, before anybody sees it

    def __init__(self) -> None:
        super().__init__()
        self._took: dict[str, float] = {}  # UID of a job that is Taking: since when
        self._holds: dict[tuple[str, str], list[Hold]] = {}  # (UID of the job, node)
        self._idle: dict[str, float] = {}  # UID of a job whose workers have all ended: since when
        self._judged: set[tuple[str, int]] = set()
        self._delays: list[tuple[float, float]] = []  # (when, how late a watch was)

    def look(self, change: Change, state: State) -> Iterator[str]:
        if change.kind == "ticks":
            self._delays.append((change.when, change.after))
        elif change.kind == "pods":
            self._look_at_workers(change, state)
        elif change.kind == "nodes":
            self._look_at_node(change)
        job = change.after
        if change.kind != "gpujobs" or not job or not job.bill:
            return
        took = self._took.pop(job.uid, None) if job.state != "Taking" else self._took.setdefault(job.uid, change.when)
        held = set(job.nodes) if job.state in HELD else set()
        over = set(job.nodes) if took and job.state == "Releasing" else set()  # before anybody saw it run
        for node in held | over:
            holds = self._holds.setdefault((job.uid, node), [])
            if not holds or holds[-1].ended is not None:
                # The worker of a lease of one node is there while it is Taking.
                began = Hold(took or change.when, change.when if node in held else None)
                if node not in state.nodes or not state.nodes[node].ready:
                    began.silent = began.began
                holds.append(began)
        for (uid, node), holds in self._holds.items():
            if uid == job.uid and node not in held and holds[-1].ended is None:
                holds[-1].ended = change.when
        for segment in job.bill.get("segments", []):
            if (job.uid, segment["number"]) not in self._judged:
                self._judged.add((job.uid, segment["number"]))
                yield from self._judge(job, segment)

    def _look_at_workers(self, change: Change, state: State) -> None:
        uid = (change.after or change.before).job if change.after or change.before else None
        workers = [pod for pod in state.pods.values() if pod.job == uid]
        if any(not pod.ended for pod in workers):
            self._idle.pop(uid, None)
        elif workers:
            self._idle.setdefault(uid, change.when)

    def _look_at_node(self, change: Change) -> None:
        node = change.after
        if node and node.ready:
            return
        for (_, name), holds in self._holds.items():
            if name == (node or change.before).name and holds[-1].ended is None and holds[-1].silent is None:
                holds[-1].silent = change.when

    def _judge(self, job: Job, segment: Any) -> Iterator[str]:
        billed = seconds(segment["to"]) - seconds(segment["from"])
        for node in nodes_of(segment, job):
            self.checked += 1
            holds = self._holds.get((job.uid, node), [])
            ended = holds[-1].ended if holds else None
            if ended is None:
                yield f"segment {segment['number']} of {job.key} ends what was not held: {node}"
                continue
            began, held, silent = holds[-1].began, holds[-1].held or ended, holds[-1].silent or ended
            late = max((delay for when, delay in self._delays if when >= began), default=0.0)
            least, most = min(ended, silent, self._idle.get(job.uid, ended)) - held, ended - began
            slack = SECOND + self.LATE + late
            if not least - slack <= billed <= most + slack:
                yield (f"segment {segment['number']} of {job.key} bills {billed:.0f} s of {node}, which was held for "
                       f"{least:.1f} to {most:.1f} s")


class PriceWasSet(Rule):
    """What a job pays is a price that its pool has had by then. The watches of both know nothing of each other. No job of the
    fault tests has a maxPricePerGpuHour below the price, which would be what it pays."""

    name = "a job pays a price of its pool"

    def __init__(self) -> None:
        super().__init__()
        self._prices: dict[str, set[Fraction]] = {}  # of each pool: all that were seen
        self._paid: dict[tuple[str, str, str], float] = {}  # (key of the job, pool, price): since when, not judged yet
        self._judged: set[tuple[str, str, str]] = set()

    def look(self, change: Change, state: State) -> Iterator[str]:
        if change.kind == "gpupools" and change.after:
            self._prices.setdefault(change.after.name, set()).update(map(Fraction, change.after.prices))
        job = change.after
        if change.kind == "gpujobs" and job and job.bill:
            for part in job.bill.get("open", []):
                paid = job.key, part["pool"], part["perGpuHour"]
                if paid not in self._judged:
                    self._paid.setdefault(paid, change.when)
        for paid in [paid for paid, since in self._paid.items() if since + Change.KNOWN < change.when]:
            del self._paid[paid]
            self._judged.add(paid)
            key, pool, price = paid
            if pool not in self._prices:
                continue
            self.checked += 1
            if Fraction(price) not in self._prices[pool]:
                yield f"{key} pays {price}, pool {pool} had the prices {sorted(map(float, self._prices[pool]))}"


class BillOutlivesJob(Rule):
    """No ledger runs while the checker watches, so what a job has held is in GpuBillRecords before the job goes. Not of a job that an API
    server removes in the moment in which it gets its finalizer: see MarksNameHolder."""

    name = "what a job has held is kept when it goes"

    def look(self, change: Change, state: State) -> Iterator[str]:
        job = change.before
        if change.kind != "gpujobs" or change.after or not job or not job.bill or job.uid in state.vanished:
            return
        self.checked += 1
        if job.bill.get("open"):
            yield f"{job.key} went, and its bill was open"
        kept = state.kept.get(job.uid, {})
        for segment in job.bill.get("segments", []):
            named = {**segment, "nodes": nodes_of(segment, job)}
            if kept.get(segment["number"], named) != named:
                yield f"segment {segment['number']} of {job.key} is {named}, kept is {kept[segment['number']]}"
        if sorted(kept) != list(range(1, job.bill["segmentCount"] + 1)):
            yield f"{job.key} went with {job.bill['segmentCount']} segments, kept were {sorted(kept)}"
