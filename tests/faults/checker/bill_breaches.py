# SPDX-License-Identifier: Apache-2.0
"""Bills that are right, and breaches of each rule about bills."""

import time
from typing import Any

from tests.faults.checker.bill_rules import BillAddsUp, BilledAsHeld, BilledOnce, BillOutlivesJob, PriceWasSet
from tests.faults.checker.forger import Forger

PRICE = "3600.000000"  # one a second


def _time(second: int) -> str:
    return f"2026-01-02T03:{second // 60:02}:{second % 60:02}Z"


def _segment(number: int, node: str | None, begin: int, end: int, **fields: Any) -> dict[str, Any]:
    return {"number": number, **({"nodes": [node]} if node else {}), "nodeCount": 1, "gpus": 1, "pool": "p", "currency": "EUR",
            "perGpuHour": PRICE, "from": _time(begin), "to": _time(end), "cost": f"{end - begin}.000000", **fields}


def _bill(*segments: dict[str, Any], cost: int | None = None) -> dict[str, Any]:
    sure = sum(int(float(segment["cost"])) for segment in segments)
    return {"currency": "EUR", "cost": f"{sure if cost is None else cost}.000000", "gpuSeconds": sure,
            "segmentCount": max((segment["number"] for segment in segments), default=0), "segments": list(segments)}


def _billed_job(forger: Forger, node: str, *segments: dict[str, Any], cost: int | None = None) -> str:
    job = forger.hold(node)
    forger.status(job, 1, "Running", node, bill=_bill())
    forger.status(job, 1, "Releasing", node, outcome="Suspended", bill=_bill(*segments, cost=cost))
    return job


def _go(forger: Forger, job: str) -> None:
    """The job is deleted, and loses its finalizer."""
    forger.api.patch("gpujobs", job, {"metadata": {"finalizers": ["gpupool.dev/lease"]}}, forger.space)
    forger.api.delete("gpujobs", job, forger.space)
    forger.api.patch("gpujobs", job, {"metadata": {"finalizers": None}}, forger.space)


def _open_bill(node: str, pool: str, price: str) -> dict[str, Any]:
    return {**_bill(), "open": [{"nodes": [node], "nodeCount": 1, "gpus": 1, "pool": pool, "currency": "EUR", "perGpuHour": price,
                                 "from": _time(0)}]}


def _end(forger: Forger, job: str, node: str, *segments: dict[str, Any]) -> None:
    """Its lease has said already that it goes."""
    forger.unmark(node)
    done = {"type": "Suspended", "status": "True", "reason": "Suspended", "message": "yes"}
    forger.status(job, 1, "", phase="Suspended", reason="Suspended", message="yes", conditions=[done], bill=_bill(*segments))


def _priced_job(forger: Forger, node: str, price: str) -> str:
    """In a pool that had a price of 2 and has 1.80 now."""
    pool = forger.pool(price={"currency": "EUR", "perGpuHour": "2", "demand": {"floor": "1", "ceiling": "3"}})
    forger.api.patch("gpupools", pool, {"status": {"price": {"perGpuHour": "1.800000"}}}, sub="status")
    job = forger.hold(node)
    forger.status(job, 1, "Running", node, bill=_open_bill(node, pool, price))
    return job


def lawful_bills(forger: Forger) -> None:
    """Two jobs after each other on a node; the segment is named when the lease goes. A record keeps it when the job goes."""
    node = forger.node()
    for begin in (0, 2):
        job = _billed_job(forger, node, _segment(1, None, begin, begin + 2))
        _end(forger, job, node, _segment(1, node, begin, begin + 2))
        forger.record(job, _bill(_segment(1, node, begin, begin + 2)))
        _go(forger, job)
    for price in ("2.000000", "1.800000"):
        node = forger.node()
        job = _priced_job(forger, node, price)
        forger.status(job, 1, "Releasing", node, outcome="Suspended", bill=_bill(_segment(1, node, 0, 1)))
        _end(forger, job, node, _segment(1, node, 0, 1))


def a_job_pays_no_price_of_its_pool(forger: Forger) -> str:
    job = _priced_job(forger, forger.node(), "1.900000")
    return f"{job} pays 1.900000"


def a_segment_changes(forger: Forger) -> str:
    node = forger.node()
    job = _billed_job(forger, node, _segment(1, node, 0, 1))
    forger.status(job, 1, "Releasing", node, outcome="Suspended", bill=_bill(_segment(1, node, 0, 2)))
    return job


def a_segment_is_missing(forger: Forger) -> str:
    node = forger.node()
    return _billed_job(forger, node, _segment(2, node, 0, 1))


def a_sum_is_too_high(forger: Forger) -> str:
    node = forger.node()
    return _billed_job(forger, node, _segment(1, node, 0, 1), cost=2)


def a_second_is_billed_twice(forger: Forger) -> str:
    node = forger.node()
    _billed_job(forger, node, _segment(1, node, 0, 30))
    return _billed_job(forger, node, _segment(1, node, 10, 40))


def a_moment_costs_a_minute(forger: Forger) -> str:
    node = forger.node()
    return _billed_job(forger, node, _segment(1, node, 0, 60))


def seconds_are_not_billed(forger: Forger) -> str:
    node = forger.node()
    job = forger.hold(node)
    forger.status(job, 1, "Running", node, bill=_bill())
    time.sleep(8)  # the time that is held
    forger.status(job, 1, "Releasing", node, outcome="Suspended", bill=_bill(_segment(1, node, 0, 1)))
    return f"{job} bills 1 s"


def another_node_is_billed(forger: Forger) -> str:
    return _billed_job(forger, forger.node(), _segment(1, forger.node(), 0, 1))


def a_job_goes_without_record(forger: Forger) -> str:
    node = forger.node()
    job = _billed_job(forger, node, _segment(1, node, 0, 1))
    _go(forger, job)
    return f"{job} went with"


def a_record_lacks_a_segment(forger: Forger) -> str:
    node = forger.node()
    job = _billed_job(forger, node, _segment(1, node, 0, 1), _segment(2, node, 1, 2))
    forger.record(job, _bill(_segment(2, node, 1, 2)))
    _go(forger, job)
    return f"{job} went with 2 segments, kept were [2]"


def a_record_says_something_else(forger: Forger) -> str:
    node = forger.node()
    job = _billed_job(forger, node, _segment(1, node, 0, 2))
    forger.record(job, _bill(_segment(1, node, 0, 1)))
    _go(forger, job)
    return f"segment 1 of {forger.space}/{job} is"


def a_job_goes_with_an_open_bill(forger: Forger) -> str:
    node = forger.node()
    job = forger.hold(node)
    forger.status(job, 1, "Running", node, bill=_open_bill(node, "p", PRICE))
    _go(forger, job)
    return f"{job} went, and its bill was open"


BROKEN = {
    BillAddsUp.name: [a_segment_changes, a_segment_is_missing, a_sum_is_too_high],
    BilledOnce.name: [a_second_is_billed_twice],
    BillOutlivesJob.name: [a_job_goes_without_record, a_record_lacks_a_segment, a_record_says_something_else,
                           a_job_goes_with_an_open_bill],
    PriceWasSet.name: [a_job_pays_no_price_of_its_pool],
    BilledAsHeld.name: [a_moment_costs_a_minute, seconds_are_not_billed, another_node_is_billed],
}
