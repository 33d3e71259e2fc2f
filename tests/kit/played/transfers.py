# SPDX-License-Identifier: Apache-2.0
"""gpupool-carry in workers without machines: how its containers end, and what they report (spec.source, spec.results)."""

import collections
import dataclasses
import hashlib
import json
from typing import Any, Callable

from tests.kit.api import Object
from tests.kit.names import JOB_NAME
from tests.kit.played.workers import attempt_of, rank_of

SOURCE, RESULTS = "gpupool-source", "gpupool-results"  # names of its containers
BYTES = 7  # of every item


@dataclasses.dataclass(frozen=True)
class End:
    """Of a container: its exit code and its termination message."""

    code: int
    report: str = ""


Plan = Callable[[Object], End | None]  # how the container of this pod ends; None: not yet


def report(attempt: int, items: list[Object], reason: str = "", message: str = "") -> str:
    """As carry/reporting/report_json.cc writes it."""
    failure = {"reason": reason, "message": message} if reason else {}
    return json.dumps({"version": 1, "attempt": attempt, "bytes": sum(item["bytes"] for item in items), "milliseconds": 1200,
                       **({"items": items} if items else {}), **failure}, sort_keys=True, separators=(",", ":"))


def fetched(pod: Object) -> End:
    """All items have come; their digests follow from their paths."""
    items = [_item(item["path"], digest=_digest(item)) for item in _argument(pod["spec"]["initContainers"], SOURCE, "source")["items"]]
    return End(0, report(attempt_of(pod), items))


def saved(pod: Object) -> End:
    """All is put away."""
    return End(0, report(attempt_of(pod), _results(pod, "Complete")))


def not_saved(message: str) -> Plan:
    """Some is not put away."""
    return lambda pod: End(0, report(attempt_of(pod), _results(pod, "Incomplete", message)))


def fails(reason: str, message: str = "data: no") -> Plan:
    """The source cannot be fetched."""
    return lambda pod: End(1, report(attempt_of(pod), [], reason, message))


def other_bytes_on(rank: int) -> Plan:
    """The source changes while it is fetched: this rank gets other bytes than the others."""
    def plan(pod: Object) -> End:
        end = fetched(pod)
        if rank_of(pod) != rank:
            return end
        told = json.loads(end.report)
        items = [{**item, "digest": "sha256:" + "0" * 64} for item in told["items"]]
        return End(0, report(told["attempt"], items))
    return plan


def killed(_pod: Object) -> End:
    """By a signal, without a report."""
    return End(137)


def never(_pod: Object) -> None:
    """It goes on and on."""


def in_turn(*plans: Plan) -> Plan:
    """The first plan for the first end on each rank, the second for the second; the last one stays."""
    ends: collections.Counter[int] = collections.Counter()

    def plan(pod: Object) -> End | None:
        rank = rank_of(pod)
        end = plans[min(ends[rank], len(plans) - 1)](pod)
        ends[rank] += end is not None
        return end
    return plan


def by_attempt(*plans: Plan) -> Plan:
    """The first plan for all ranks of attempt 0, the second for attempt 1; the last one stays. A rank of an attempt that has
    failed may be deleted before its own end, so ends of a rank do not tell which attempt it is."""
    return lambda pod: plans[min(attempt_of(pod), len(plans) - 1)](pod)


class Transfers:
    """Plans by namespace and name of the job; all goes well with others."""

    def __init__(self) -> None:
        self.sources: dict[tuple[str, str], Plan] = {}
        self.results: dict[tuple[str, str], Plan] = {}

    def clear(self) -> None:
        self.sources.clear()
        self.results.clear()

    def fetch(self, pod: Object) -> End | None:
        return self.sources.get(_job_of(pod), fetched)(pod)

    def save(self, pod: Object) -> End | None:
        return self.results.get(_job_of(pod), saved)(pod)


def has_source(pod: Object) -> bool:
    return any(container["name"] == SOURCE for container in pod["spec"].get("initContainers", []))


def has_results(pod: Object) -> bool:
    return any(container["name"] == RESULTS for container in pod["spec"]["containers"][1:])


def is_wanted(pod: Object) -> bool:
    """Whether this rank has results to put away; the others do not wait for the end of the command."""
    return any(_names(entry, pod) for entry in _argument(pod["spec"]["containers"], RESULTS, "results"))


def status_of(pod: Object, name: str) -> Any:
    """Of the container of this name; None if the kubelet has not told any."""
    statuses = (pod["status"].get("initContainerStatuses") or []) + (pod["status"].get("containerStatuses") or [])
    return next((status for status in statuses if status["name"] == name), None)


def image_of(pod: Object, name: str) -> str:
    containers = [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]
    return next(container["image"] for container in containers if container["name"] == name)


def _job_of(pod: Object) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["labels"][JOB_NAME]


def _item(path: str, **more: Any) -> Object:
    return {"path": path, "files": 1, "bytes": BYTES, **more}


def _digest(item: Object) -> str:
    if "git" in item:
        return "git:" + item["git"]["commit"]
    return "sha256:" + (item.get("sha256") or hashlib.sha256(item["path"].encode()).hexdigest())


def _results(pod: Object, state: str, message: str = "") -> list[Object]:
    return [_item(entry["from"], state=state, to=_place(entry, pod), **({"message": message} if message else {}))
            if _names(entry, pod) else {"path": entry["from"], "files": 0, "bytes": 0, "state": "Skipped"}
            for entry in _argument(pod["spec"]["containers"], RESULTS, "results")]


def _names(entry: Object, pod: Object) -> bool:
    return rank_of(pod) in (entry.get("ranks") or [0])


def _place(entry: Object, pod: Object) -> str:
    to, meta = entry["to"], pod["metadata"]
    place = (f"s3://{to['s3']['bucket']}/{to['s3'].get('prefix', '')}" if "s3" in to else
             f"claim {to['volume']['claimName']}: {to['volume'].get('path', '')}")
    values = {"job": meta["labels"][JOB_NAME], "namespace": meta["namespace"], "attempt": attempt_of(pod), "rank": rank_of(pod)}
    for name, value in values.items():
        place = place.replace(f"$({name})", str(value))
    return place


def _argument(containers: list[Object], name: str, flag: str) -> Any:
    """What the operator tells gpupool-carry; the kubelet makes one $ of two."""
    command = next(container["command"] for container in containers if container["name"] == name)
    text = next(word for word in command if word.startswith(f"--{flag}="))
    return json.loads(text.partition("=")[2].replace("$$", "$"))
