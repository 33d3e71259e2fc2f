# SPDX-License-Identifier: Apache-2.0
"""Merges the events of several watches into one history.

All objects are in one etcd, whose revision is the resourceVersion of each, so the revisions of all kinds together are the
order in which things happened. An event is handed out when every watch has come so far; a small object of each kind that
is written again and again (clock.py) makes sure that they do.
"""

import heapq
import itertools
import threading
import time
from typing import Any, Callable

from tests.kit.api import Object
from tests.kit.follower import LISTED, Follower

Event = tuple[int, float, str, str, Object]  # revision, when it came, kind, what, object


class History:
    def __init__(self, kubeconfig: str, kinds: dict[str, dict]) -> None:
        """kinds: name: what restricts it, as arguments of Follower."""
        self._lock = threading.Condition()
        self._waiting = []  # heap of (revision, number, when it came, kind, what, object)
        self._numbers = itertools.count()
        self._reached = {kind: 0 for kind in kinds}
        self._followers = {kind: Follower(kubeconfig, kind, self._teller(kind), **query)
                           for kind, query in kinds.items()}

    def start(self) -> int:
        """The revision from which on the history is whole: what was listed is older."""
        for kind, follower in self._followers.items():
            self._reached[kind] = follower.list().version
        whole = max(self._reached.values())
        for follower in self._followers.values():
            follower.start()
        return whole

    def close(self) -> None:
        for follower in self._followers.values():
            follower.close()

    def problems(self) -> list[str]:
        return [follower.problem for follower in self._followers.values() if follower.problem]

    def take(self, timeout: float) -> list[Event]:
        """[(revision, when it came, kind, what, object)] that are certain to be next; maybe none."""
        with self._lock:
            ready = self._ready()
            if not ready:
                self._lock.wait(timeout)
                ready = self._ready()
            return ready

    def reached(self) -> int:
        """Everything up to this revision was handed out, or is about to be."""
        with self._lock:
            return min(self._reached.values())

    def _ready(self) -> Any:
        until, found = min(self._reached.values()), []
        while self._waiting and self._waiting[0][0] <= until:
            revision, _, when, kind, what, objekt = heapq.heappop(self._waiting)
            found.append((revision, when, kind, what, objekt))
        return found

    def _teller(self, kind: str) -> Callable[..., Any]:
        def tell(what: str, objekt: Object) -> None:
            revision = int(objekt["metadata"]["resourceVersion"])
            with self._lock:
                heapq.heappush(self._waiting, (revision, next(self._numbers), time.monotonic(), kind, what, objekt))
                if what != LISTED:
                    self._reached[kind] = revision
                    self._lock.notify()
        return tell
