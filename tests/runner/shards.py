# SPDX-License-Identifier: Apache-2.0
"""Divides the tests of a step among programs that run side by side, so that all take about as long."""

import json
import statistics
from pathlib import Path
from typing import Callable, Collection, Iterable, Mapping

from tests.kit.paths import ROOT

TIMES = ROOT / "tests" / "times.json"  # step: {test: seconds}, as tests/run --record-times wrote it
UNKNOWN = 5.0  # seconds of a test, where none of its step was ever recorded


def read_times(step: str, path: Path = TIMES) -> dict[str, float]:
    """Seconds by test; empty if the step was never recorded."""
    return json.loads(path.read_text(encoding="utf-8")).get(step, {}) if path.exists() else {}


def write_times(step: str, times: Mapping[str, float], path: Path = TIMES) -> None:
    """Replaces what is recorded of this step. Tests that are gone go."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known[step] = {test: round(seconds, 1) for test, seconds in times.items()}
    path.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def group_seconds(tests: Iterable[str], group_of: Callable[[str], str], times: Mapping[str, float]) -> dict[str, float]:
    """Seconds by group. A test without a recorded time takes the median of those that have one."""
    unknown = statistics.median(times.values()) if times else UNKNOWN
    groups: dict[str, float] = {}
    for test in tests:
        groups[group_of(test)] = groups.get(group_of(test), 0.0) + times.get(test, unknown)
    return groups


def pack(groups: Mapping[str, float], count: int,
         allowed: Callable[[str], Collection[int]] | None = None) -> list[list[str]]:
    """So many shards, each a list of groups. The longest group comes first, into the shard that has least to do.

    allowed(group) are the shards that can run it: groups with fewer of them come before those with more."""
    choices = {group: sorted(allowed(group)) if allowed else list(range(count)) for group in groups}
    shards: list[list[str]] = [[] for _ in range(count)]
    load = [0.0] * count
    for group in sorted(groups, key=lambda group: (len(choices[group]), -groups[group], group)):
        if not choices[group]:
            raise ValueError(f"no shard can run {group}")
        shard = min(choices[group], key=lambda number: (load[number], number))
        shards[shard].append(group)
        load[shard] += groups[group]
    return [sorted(shard) for shard in shards]
