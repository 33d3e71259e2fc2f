# SPDX-License-Identifier: Apache-2.0
"""Compares the books of a ledger with the segments that somebody else has seen."""

from datetime import datetime, timezone
from typing import Any

from tests.kit.api import Api
from tests.kit.ledger_process import LedgerProcess
from tests.kit.waiting import wait_for

BOOKED = "the books have what was seen, once"
MILLIONTHS = 1_000_000


def enter_records(api: Api, ledger: LedgerProcess) -> None:
    """The ledger comes back, and is killed when it has entered what GpuBillRecords have kept."""
    ledger.start()
    wait_for("the ledger to enter all GpuBillRecords", lambda: not api.list("gpubillrecords"), detail=ledger.log)
    ledger.kill()


def differences(ledger: LedgerProcess, seen: list[dict[str, Any]]) -> list[str]:
    """seen: segments of jobs that are gone, each with `jobUid`. Each is in the books once and as it was, and those jobs
    have no others there."""
    entered: dict[tuple[str, int], list[dict[str, Any]]] = {}
    uids = {segment["jobUid"] for segment in seen}
    problems = []
    for entry in ledger.entries():
        fact = entry["body"]
        if fact["jobUid"] in uids:
            entered.setdefault((fact["jobUid"], fact["number"]), []).append(fact)
            if entry["kind"] != "segment":
                problems.append(f"entry {entry['seq']} is {entry['kind']}: {entry['remark']}, {fact}")
    for segment in seen:
        found = entered.pop((segment["jobUid"], segment["number"]), [])
        if [_from_books(fact) for fact in found] != [_from_status(segment)]:
            problems.append(f"segment {segment} is in the books as {found}")
    problems += [f"nobody has seen what is in the books: {facts}" for facts in entered.values()]
    told = ledger.run("verify")
    return problems if told.returncode == 0 else [*problems, told.stdout + told.stderr]


def _from_books(fact: dict[str, Any]) -> tuple[Any, ...]:
    return (fact["from"], fact["to"], sorted(fact["nodes"]), fact["gpus"], fact["slices"], fact["perGpuHour"], fact["cost"])


def _from_status(segment: dict[str, Any]) -> tuple[Any, ...]:
    return (_unix(segment["from"]), _unix(segment["to"]), sorted(segment["nodes"]), segment.get("gpus", 0), segment.get("slices", 0),
            _micros(segment["perGpuHour"]), _micros(segment["cost"]))


def _unix(time: str) -> int:
    return int(datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp())


def _micros(amount: str) -> int:
    whole, _, part = amount.partition(".")
    return int(whole) * MILLIONTHS + int(part.ljust(6, "0"))
