# SPDX-License-Identifier: Apache-2.0
"""Follows the pods of a namespace and keeps their results, also of pods that are deleted soon after."""

import json
import threading
from typing import Any

from tests.kit.api import Object
from tests.kit.follower import LISTED, Follower
from tests.kit.waiting import wait_for


class PodWatch:
    """A context manager: what the workers left as results while it was open."""

    def __init__(self, kubeconfig: str, namespace: str) -> None:
        self._follower = Follower(kubeconfig, "pods", self._note, namespace=namespace)
        self._results: dict[str, Object] = {}
        self._nodes: dict[str, str | None] = {}
        self._lock = threading.Lock()

    def __enter__(self) -> "PodWatch":
        self._follower.list().start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._follower.close()
        self._follower.join(10)

    def _note(self, what: str, pod: Object) -> None:
        if what == LISTED:
            return  # it is of before
        name = pod["metadata"]["name"]
        with self._lock:
            self._nodes[name] = pod["spec"].get("nodeName")
            for container in pod["status"].get("containerStatuses", []):
                for state in (container["state"], container["lastState"]):
                    message = state.get("terminated", {}).get("message", "")
                    if message.startswith("{"):
                        self._results[name] = json.loads(message)

    def nodes(self) -> set[str]:
        """Where the pods were."""
        with self._lock:
            return {node for node in self._nodes.values() if node}

    def tails(self, workers: int) -> dict[str, str]:
        """The last lines that each of so many workers printed, by pod. A watch may tell of them a moment after a job's end."""
        wait_for(f"the results of {workers} workers", lambda: len(self._tails()) >= workers, detail=lambda: str(self._tails()))
        return self._tails()

    def _tails(self) -> dict[str, str]:
        with self._lock:
            return {name: result.get("tail", "") for name, result in self._results.items()}
