# SPDX-License-Identifier: Apache-2.0
"""Reads, changes and waits for a GpuJob."""

import json
import time
from typing import Any, Callable

from tests.kit.api import Api, Object
from tests.kit.names import JOB_NAME, RESTART
from tests.kit.times import unix_seconds
from tests.kit.waiting import LIMIT, wait_for


class JobHandle:
    """One GpuJob in the cluster; each question is a fresh read."""

    def __init__(self, api: Api, name: str, namespace: str) -> None:
        self.api, self.name, self.namespace = api, name, namespace
        self.uid = ""  # of the object, where a test has noted it

    def read(self) -> Object:
        return self.api.get("gpujobs", self.name, self.namespace)

    def exists(self) -> bool:
        return self.api.find("gpujobs", self.name, self.namespace) is not None

    def status(self) -> Object:
        return self.read().get("status") or {}

    def phase(self) -> str | None:
        return self.status().get("phase")

    def reason(self) -> str | None:
        return self.status().get("reason")

    def conditions(self) -> dict[str, Object]:
        return {c["type"]: c for c in self.status().get("conditions", [])}

    def condition(self, name: str) -> str | None:
        return self.conditions().get(name, {}).get("status")

    def lease(self) -> Any:
        """None if it has none."""
        return self.status().get("lease")

    def nodes(self) -> list[str]:
        return [node["name"] for node in (self.lease() or {}).get("nodes", [])]

    def show(self) -> str:
        found = self.api.find("gpujobs", self.name, self.namespace)
        pods = [{"name": p["metadata"]["name"], "node": p["spec"].get("nodeName"), "status": p["status"]}
                for p in self.pods()]
        status = (found or {}).get("status") or {}
        held = [node["name"] for node in (status.get("lease") or {}).get("nodes", [])][:5]
        nodes = [{"labels": n["metadata"].get("labels"), "taints": n["spec"].get("taints"),
                  "allocatable": n["status"].get("allocatable")} for name in held if (n := self.api.find("nodes", name))]
        others = [(p["metadata"]["namespace"], p["metadata"]["name"], p["status"].get("phase"))
                  for p in self.api.list("pods") if p["spec"].get("nodeName") in held]
        told = [f"{e['regarding'].get('name')}: {e['reason']}: {e.get('note')}" for e in self.api.list("events", self.namespace)
                if str(e["regarding"].get("name")).startswith(self.name)][-20:]
        return (f"status: {json.dumps(status)}\npods: {json.dumps(pods)[:4000]}\nits nodes: {json.dumps(nodes)}\n"
                f"all pods there: {others}\nevents: {told}")

    def pods(self) -> list[Object]:
        return [p for p in self.api.list("pods", self.namespace)
                if p["metadata"].get("labels", {}).get(JOB_NAME) == self.name]

    def wait_phase(self, *phases: str, limit: float = LIMIT) -> Object:
        return self.wait(f"phase {' or '.join(phases)}", lambda s: s.get("phase") in phases and s, limit)

    def wait_reason(self, reason: str) -> Object:
        return self.wait(f"reason {reason}", lambda s: s.get("reason") == reason and s)

    def wait_behind_others(self) -> Object:
        return self.wait("place behind others", lambda s: s.get("reason") == "WaitingForNodes" and
                         "jobs before it in the queue come first" in s.get("message", ""))

    def wait_condition(self, name: str, value: str = "True", limit: float = LIMIT) -> Object:
        def holds(status: Object) -> Any:
            if name == "Complete" and status.get("phase") == "Failed":
                raise AssertionError(f"GpuJob {self.name} has failed: {status.get('reason')}: {status.get('message')}")
            found = [c for c in status.get("conditions", []) if c["type"] == name and c["status"] == value]
            return found and status
        return self.wait(f"condition {name}={value}", holds, limit)

    def wait(self, what: str, probe: Callable[[Object], Any], limit: float = LIMIT) -> Any:
        return wait_for(f"{what} of GpuJob {self.name}", lambda: probe(self.status()), limit, self.show)

    def wait_gone(self, limit: float = LIMIT) -> None:
        wait_for(f"GpuJob {self.name} to be gone", lambda: not self.exists(), limit, self.show)

    def patch(self, **spec: Any) -> Object:
        return self.api.patch("gpujobs", self.name, {"spec": spec}, self.namespace)

    def ask_restart(self, token: str) -> None:
        self.api.patch("gpujobs", self.name, {"metadata": {"annotations": {RESTART: token}}}, self.namespace)

    def deadline_in(self, seconds: int) -> int:
        """Its deadline is so many seconds from now, and the operator knows; when that is. Starting took whatever it took."""
        return self._limit_in("activeDeadlineSeconds", lambda status: status["startTime"], seconds)

    def start_timeout_in(self, seconds: int) -> int:
        """The same of startTimeoutSeconds."""
        return self._limit_in("startTimeoutSeconds", lambda status: status["lease"]["since"], seconds)

    def _limit_in(self, field: str, begin_of: Callable[[Object], str], seconds: int) -> int:
        begin = unix_seconds(begin_of(self.status()))
        limit = int(time.time()) - begin + seconds
        generation = self.patch(**{field: limit})["metadata"]["generation"]
        self.wait(f"{field} to be seen", lambda s: s.get("observedGeneration") == generation)
        return begin + limit

    def delete(self) -> None:
        self.api.delete("gpujobs", self.name, self.namespace)

    def events(self) -> list[Object]:
        return [e for e in self.api.list("events", self.namespace) if e["regarding"].get("name") == self.name]
