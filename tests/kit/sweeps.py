# SPDX-License-Identifier: Apache-2.0
"""Reads, changes and waits for a GpuSweep."""

import json
from typing import Any, Callable

from tests.kit.api import Api, Object
from tests.kit.jobs import JobHandle
from tests.kit.waiting import LIMIT, wait_for

SWEEP_LABEL = "gpupool.dev/sweep"


class SweepHandle:
    """One GpuSweep in the cluster; each question is a fresh read."""

    def __init__(self, api: Api, name: str, namespace: str) -> None:
        self.api, self.name, self.namespace = api, name, namespace

    def read(self) -> Object:
        return self.api.get("gpusweeps", self.name, self.namespace)

    def status(self) -> Object:
        return self.read().get("status") or {}

    def trial(self, index: int) -> JobHandle:
        return JobHandle(self.api, f"{self.name}-{index}", self.namespace)

    def jobs(self) -> list[str]:
        """The names of its GpuJobs."""
        jobs = self.api.list("gpujobs", self.namespace, labelSelector=f"{SWEEP_LABEL}={self.name}")
        return sorted((job["metadata"]["name"] for job in jobs), key=lambda name: int(name.rsplit("-", 1)[1]))

    def condition(self, name: str) -> str | None:
        return next((c["status"] for c in self.status().get("conditions", []) if c["type"] == name), None)

    def show(self) -> str:
        found = self.api.find("gpusweeps", self.name, self.namespace) or {}
        return f"status: {json.dumps(found.get('status'))}\njobs: {self.jobs()}"

    def wait(self, what: str, probe: Callable[[Object], Any], limit: float = LIMIT) -> Any:
        return wait_for(f"{what} of GpuSweep {self.name}", lambda: probe(self.status()), limit, self.show)

    def wait_phase(self, phase: str) -> Object:
        return self.wait(f"phase {phase}", lambda s: s.get("phase") == phase and s)

    def wait_reason(self, reason: str) -> Object:
        return self.wait(f"reason {reason}", lambda s: s.get("reason") == reason and s)

    def wait_jobs(self, *names: str) -> None:
        wait_for(f"the jobs {names} of GpuSweep {self.name}", lambda: self.jobs() == list(names), detail=self.show)

    def patch(self, **spec: Any) -> Object:
        return self.api.patch("gpusweeps", self.name, {"spec": spec}, self.namespace)

    def events(self) -> list[Object]:
        return [e for e in self.api.list("events", self.namespace)
                if e["regarding"].get("kind") == "GpuSweep" and e["regarding"].get("name") == self.name]
