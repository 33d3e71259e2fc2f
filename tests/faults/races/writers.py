# SPDX-License-Identifier: Apache-2.0
"""Threads that submit jobs, and then edit, suspend or delete some of them."""

import collections
import random
import threading
import time
from typing import Any

from tests.faults.checker.records import EXPECTED, KEEPS_NODES
from tests.faults.races.submissions import edit, impossible, possible
from tests.kit.api import CONNECTION_ERRORS, Api, ApiError, Object
from tests.kit.names import RESTART

OPEN = 12  # jobs that a writer has at the same time, at most
ENDED = ("Succeeded", "Failed")


class Writer(threading.Thread):
    """Submits `count` jobs in a namespace of its own, and runs until all that can end have ended."""

    def __init__(self, api: Api, namespace: str, count: int, seed: int) -> None:
        super().__init__(daemon=True)
        self._api, self.namespace, self.left, self._numbers = api, namespace, count, random.Random(seed)
        self._submitted = self.ended = 0
        self._plans = {}  # job: [(when, what)], soonest first
        self.counts, self.problems = collections.Counter(), []
        self.drained = False
        self._closed = threading.Event()

    def close(self) -> None:
        self._closed.set()

    def run(self) -> None:
        pause = 0.05
        while not self._closed.wait(pause):
            try:
                jobs = {job["metadata"]["name"]: job for job in self._api.list("gpujobs", self.namespace)}
                self._reap(jobs)
                alive = {name: job for name, job in jobs.items() if "deletionTimestamp" not in job["metadata"]}
                had = self.left  # what is submitted now is not in the list
                self._submit(OPEN - len(alive))
                self._change_minds(alive)
                self.drained = not had and not self.left and not any(EXPECTED in j["metadata"].get("annotations", {})
                                                          for j in jobs.values())
            except ApiError as error:
                if error.code != 404:  # it has ended and gone meanwhile
                    self.problems.append(f"writer {self.namespace}: {error}")
            except CONNECTION_ERRORS as error:
                self.problems.append(f"writer {self.namespace}: {error!r}")

    def waits_for(self) -> list[str]:
        return [f"{self.namespace}/{j['metadata']['name']}: {j.get('status')}"
                for j in self._api.list("gpujobs", self.namespace) if EXPECTED in j["metadata"].get("annotations", {})]

    def _reap(self, jobs: dict[str, Object]) -> None:
        for name, job in jobs.items():
            status = job.get("status") or {}
            if status.get("phase") in ENDED and "deletionTimestamp" not in job["metadata"]:
                self.counts[f"jobs ended: {status['phase']}"] += 1
                self.ended += 1
                self._api.delete("gpujobs", name, self.namespace)

    def _submit(self, room: int) -> None:
        for _ in range(min(room, self.left, 4)):
            self._submitted += 1
            name = f"j{self._submitted}"
            make = impossible if self._numbers.random() < 0.03 else possible
            job = make(name, self.namespace, self._numbers)
            try:
                self._api.create("gpujobs", job)
            except ApiError as error:
                if make is possible or error.code != 422:
                    raise
                self.counts["jobs refused by the API server"] += 1
            self._plans[name] = self._plan(job) if make is possible else []
            self.left -= 1
            self.counts["jobs submitted"] += 1

    def _plan(self, job: Object) -> list[Any]:
        """What its owner will do to it."""
        numbers, plan = self._numbers, []
        calm = KEEPS_NODES in job["metadata"]["annotations"]
        if job["spec"].get("suspend"):
            plan.append((numbers.uniform(3, 12), self._resume))
        elif numbers.random() < 0.1 and not calm:
            suspended = numbers.uniform(0, 6)
            plan += [(suspended, self._suspend), (suspended + numbers.uniform(0.1, 3), self._resume)]
        plan += [(numbers.uniform(0, 6), self._edit) for _ in range(4 if calm else numbers.choice((0, 0, 1, 2)))]
        if numbers.random() < 0.1 and not calm:
            plan += [(numbers.uniform(0, 6), self._restart) for _ in range(numbers.choice((1, 1, 2)))]
        if numbers.random() < 0.1:
            plan.append((numbers.uniform(0, 6), self._remove))
        return sorted(((time.monotonic() + after, what) for after, what in plan), key=lambda step: step[0])

    def _change_minds(self, alive: dict[str, Object]) -> None:
        for name in list(self._plans):
            while name in alive and self._plans[name] and self._plans[name][0][0] < time.monotonic():
                self._plans[name].pop(0)[1](name)
            if name not in alive and not self._plans[name]:
                del self._plans[name]
            elif name not in alive:
                self._plans[name] = [step for step in self._plans[name] if step[0] > time.monotonic()]

    def _suspend(self, name: str) -> None:
        self._patch(name, {"suspend": True}, "suspended")

    def _resume(self, name: str) -> None:
        self._patch(name, {"suspend": False}, "resumed")

    def _remove(self, name: str) -> None:
        options: dict[str, Any] = {"propagationPolicy": "Foreground"} if self._numbers.random() < 0.2 else {}
        self._api.delete("gpujobs", name, self.namespace, **options)
        self.counts["jobs deleted"] += 1

    def _edit(self, name: str) -> None:
        change = edit(self._numbers)
        try:
            self._patch(name, change, "edited")
        except ApiError as error:
            if error.code != 422:  # newer servers know what must not change
                raise
            self.counts["edits refused by the API server"] += 1

    def _restart(self, name: str) -> None:
        self._patch(name, {}, "asked to restart", {"annotations": {RESTART: str(self._numbers.random())}})

    def _patch(self, name: str, spec: Any, what: str, metadata: Any = None) -> None:
        try:
            self._api.patch("gpujobs", name, {"spec": spec, "metadata": metadata or {}}, self.namespace)
            self.counts[f"jobs {what}"] += 1
        except ApiError as error:
            if error.code != 404:
                raise
