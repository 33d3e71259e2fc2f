# SPDX-License-Identifier: Apache-2.0
"""The jobs that writers submit, with the result that each must have."""

from random import Random
from typing import Any

from tests.faults.checker.records import EXPECTED, KEEPS_NODES
from tests.faults.races.fleet import BIG, CALM, LENT, ONE, SHARED, SPLIT, is_owners
from tests.faults.races.race_kubelets import EXITS, RUNS_MS
from tests.kit.api import Object
from tests.kit.manifests import RESULTS, SOURCE, job_manifest, shell

CRASH = 9
LONG_MS = 2000


def _size(pool: str, numbers: Random) -> dict[str, Any]:
    if pool == ONE:
        return {"gpus": numbers.choice((1, 1, 1, 2, 2, 3, 6))}  # six at once is most of the pool
    if pool == CALM:
        return {"gpus": 1}
    if pool == LENT:
        return {"gpus": numbers.choice((1, 1, 1, 2))}
    if pool == SHARED:
        return {"gpus": numbers.choice((1, 1, 1, 2, 3)), "slice": {"count": numbers.randint(1, SPLIT)}}
    each = numbers.choice((1, 2, 4))
    return {"gpus": each * numbers.choice((1, 1, 2, 3)), "gpusPerWorker": each}


def _runs_ms(pool: str, numbers: Random) -> int:
    """Some run so long that others claim their nodes."""
    if pool == CALM:
        return 1500
    long = pool in (BIG, LENT) and numbers.random() < (0.2 if pool == BIG else 0.8)
    return numbers.randint(LONG_MS, 2 * LONG_MS) if long else numbers.randint(0, 800)


_IMPOSSIBLE: tuple[dict[str, Any], ...] = (
    {"gpus": 500},
    {"gpus": 3, "gpusPerWorker": 2},
    {"nodes": ["race-nowhere"]},
    {"pool": "race-no-such-pool"},
    {"slice": {"count": 1}},
    {"template": {"spec": {"containers": [{"name": "worker", "image": "gpupool.dev/busybox:1"}]}}},
    {"template": {"spec": {"nodeName": "race-one-0", "containers": [shell("true")]}}},
)


def impossible(name: str, namespace: str, numbers: Random) -> Object:
    """A job that can never run, and must say why."""
    spec: dict[str, Any] = {"pool": ONE, **numbers.choice(_IMPOSSIBLE)}
    return job_manifest(name, namespace, **spec)


def possible(name: str, namespace: str, numbers: Random) -> Object:
    lent = 6 if is_owners(namespace) else 3  # so that there are claims in a short race too
    pool = numbers.choices((ONE, BIG, LENT, SHARED, CALM), (4, 2, lent, 3, 1))[0]
    crashes = pool != CALM and numbers.random() < 0.1
    limit = numbers.randint(0, 1) if crashes else 3
    spec: dict[str, Any] = {"priority": numbers.randint(-2, 2), "backoffLimit": limit, **_size(pool, numbers)}
    if not crashes and numbers.random() < 0.2:
        spec["ttlSecondsAfterFinished"] = numbers.randint(0, 2)
    if numbers.random() < 0.25:
        spec.update(source=SOURCE, results=RESULTS)
    runs_ms = _runs_ms(pool, numbers)
    if runs_ms >= LONG_MS or numbers.random() < 0.5:
        spec["checkpoint"] = {}
    if numbers.random() < 0.2:
        spec["preemptible"] = numbers.random() < 0.8
    if pool == LENT and is_owners(namespace):
        spec["suspend"] = True  # until others have all nodes of the pool
    job = job_manifest(name, namespace, pool, **spec)
    does = {RUNS_MS: str(runs_ms), EXITS: str(CRASH if crashes else 0)}
    job["spec"]["template"]["metadata"] = {"annotations": does}
    expected = f"Failed/BackoffLimitExceeded/{limit + 1}" if crashes else "Succeeded/Completed/0"
    job["metadata"]["annotations"] = {EXPECTED: expected, **({KEEPS_NODES: "yes"} if pool == CALM else {})}
    return job


def edit(numbers: Random) -> dict[str, Any]:
    """A patch of a job's spec that must not touch its nodes. What its workers do and how it ends stay the same."""
    worker = shell("sleep 1", env=[{"name": "EDITED", "value": str(numbers.random())}])
    edits: tuple[dict[str, Any], ...] = (
        {"template": {"spec": {"containers": [worker]}}},
        {"template": {"metadata": {"labels": {"edited": str(numbers.randint(0, 9))}}}},
        {"template": {"spec": {"terminationGracePeriodSeconds": numbers.randint(1, 9)}}},
        {"priority": numbers.randint(-2, 2)},
        {"gpus": numbers.randint(1, 2), "gpusPerWorker": 1},
        {"nodes": []},
        {"startTimeoutSeconds": numbers.randint(500, 700)},
        {"ttlSecondsAfterFinished": None},
    )
    return numbers.choice(edits)
