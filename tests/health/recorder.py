# SPDX-License-Identifier: Apache-2.0
"""Keeps every version of the GpuJobs of a namespace: some states last for milliseconds."""

import threading
from typing import Any, Callable

from tests.kit.api import Object
from tests.kit.follower import LISTED, Follower
from tests.kit.waiting import wait_for


class Recorder:
    """From start() to close()."""

    def __init__(self, kubeconfig: str, namespace: str) -> None:
        self._follower = Follower(kubeconfig, "gpujobs", self._note, namespace=namespace)
        self._versions: list[Object] = []
        self._lock = threading.Lock()

    def start(self) -> "Recorder":
        self._follower.list().start()
        return self

    def close(self) -> None:
        self._follower.close()
        self._follower.join(10)

    def _note(self, what: str, job: Object) -> None:
        if what != LISTED:
            with self._lock:
                self._versions.append(job)

    def first(self, name: str, what: str, fits: Callable[[Object], Any]) -> Object:
        """The first version of this job whose status fits."""
        def found() -> Object | None:
            with self._lock:
                return next((v for v in self._versions if v["metadata"]["name"] == name and fits(v.get("status") or {})),
                            None)
        return wait_for(f"{what} of {name}", found, 60)
