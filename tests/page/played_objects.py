# SPDX-License-Identifier: Apache-2.0
"""Objects and lines for the stub server."""

from typing import Any, Iterable

from tests.page.stub_server import Topic

COLUMNS = ["Name", "Phase", "Pool", "GPUs", "Nodes", "Attempts", "Reason", "Age", "Master", "Priority", "Created", "Namespace"]
CREATED = "2026-01-02T03:04:05Z"


def job_rows(count: int) -> list[list[Any]]:
    phases = ["Running", "Queued", "Succeeded", "Failed"]
    return [[f"lab/job-{i}", [f"job-{i}", phases[i % 4], "gpus", "8", f"node-{i % 1000}", "1", "Reason", "5m", "", str(i % 3), CREATED, "lab"]]
            for i in range(count)]


def pool() -> dict[str, Any]:
    return {"metadata": {"name": "gpus"},
            "spec": {"price": {"currency": "EUR", "perGpuHour": "1.20", "demand": {"floor": "1", "ceiling": "2"}}},
            "status": {"price": {"perGpuHour": "1.080000"},
        "nodes": {"total": 3, "ready": 2, "leased": 1}, "gpus": {"total": 24, "available": 8, "models": [{"model": "H100", "count": 24}]},
        "slices": {"total": 40, "free": 4}, "jobs": {"queued": 2, "running": 1},
        "queue": {"asOf": CREATED, "tenants": [{"name": "nlp", "queued": 2, "held": "1500m", "averageHeld": "2", "usage": "7200000"}]},
        "conditions": [{"type": "Ready", "status": "True", "reason": "Good", "message": "m"}]}}


def node(name: str = "node-1") -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"gpuCounts": {"total": 1, "healthy": 1}, "driverVersion": "550", "gpus": [
        {"uuid": f"{name}-0", "index": 0, "model": "NVIDIA-H100", "memoryMiB": 81559, "health": "Healthy", "slices": {"total": 4, "free": 1},
         "usage": {"utilizationPercent": 93, "memoryUsedMiB": 40000, "temperatureCelsius": 61, "powerMilliwatts": 400000},
         "pods": [{"namespace": "lab", "name": "resnet-0", "slices": 2}, {"namespace": "lab", "name": "eval", "slices": 1}]}]}}


def job(name: str = "resnet", **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "lab", "uid": "11111111-2222-3333-4444-555555555555", "creationTimestamp": CREATED},
            "spec": {"pool": "gpus", "metrics": {"names": ["loss"]}},
            "status": {"phase": "Running", "reason": "WorkersRunning", "attempts": 1, "workers": {"total": 4, "running": 4, "succeeded": 0},
                       "startTime": CREATED, "nodeNames": "node-1", "gpus": "4",
                       # Its hour has not begun: what it costs does not depend on the time of the test.
                       "lease": {"nodes": [{"name": "node-1"}]}, "bill": {"currency": "EUR", "cost": "7.000000", "open": [
                           {"currency": "EUR", "perGpuHour": "1.20", "gpus": 4}]}, **status}}


def sweep() -> dict[str, Any]:
    return {"metadata": {"name": "tune", "namespace": "lab"}, "status": {
        "phase": "Running", "reason": "r", "message": "m", "counts": {"total": 10, "succeeded": 4},
        "top": [{"trial": 3, "value": "0.5", "parameters": {"lr": "0.1"}, "job": "tune-3"}]}}


def everything(topic: Topic) -> Iterable[dict[str, Any]]:
    """One of each."""
    if topic.get("log"):
        yield {"begin": True}
        yield {"note": "resnet, attempt 0, 4 ranks", "problem": False}
        yield {"lines": [[i % 4, 1767323045000 + 1000 * i, f"step {i} loss={1 / (i + 1)}"] for i in range(200)]}
        return
    if "table" in topic:
        rows = job_rows(8) if topic["table"] == "gpujobs" else [["lab/tune", ["tune", "Running", "4/10", "1", "0", "3", "0.5", "r", "1m", CREATED, "lab"]]]
        yield {"columns": COLUMNS if topic["table"] == "gpujobs" else
               ["Name", "Phase", "Ended", "Active", "Failed", "Best", "Value", "Reason", "Age", "Created", "Namespace"], "reset": True}
        yield {"rows": rows}
    else:
        found = {"gpupools": [["gpus", pool()]], "gpunodes": [["node-1", node()]], "gpujobs": [["lab/resnet", job()]],
                 "gpusweeps": [["lab/tune", sweep()]], "events": []}[topic["objects"]]
        yield {"reset": True, "objects": found}
    yield {"complete": True}
