# SPDX-License-Identifier: Apache-2.0
"""Counts requests in the API server's audit log."""

import collections
import datetime
import json
import time
from typing import Any, Iterable, Iterator

from tests.kit.api import Object

WRITES = {"create", "update", "patch", "delete", "deletecollection"}
SETTLED = 0.3  # seconds without a new line: the log is written a little later than the answer

Counts = collections.Counter[str]  # by verb and resource


def time_of(text: str) -> float:
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def name_of(entry: Object) -> str:
    """Verb and resource."""
    ref = entry.get("objectRef", {})
    what = "/".join(filter(None, (ref.get("resource", entry["requestURI"]), ref.get("subresource"))))
    return f"{entry['verb']} {what}"


class Audit:
    def __init__(self, path: str) -> None:
        self._path = path
        self._offset = 0

    def begin(self) -> None:
        """What was asked so far does not count."""
        self._wait_settled()

    def counts(self, user_agent: str, entries: Iterable[Object] | None = None) -> tuple[Counts, Counts, Counts, collections.Counter]:
        """Of these entries, or since begin(): (writes, reads, conflicts, seconds that the server took), each Counter by verb and
        resource.

        Watches are left out.
        """
        writes, reads, conflicts = Counts(), Counts(), Counts()
        seconds: Any = collections.Counter()  # not counts, but added up like them
        for entry in self.entries() if entries is None else entries:
            if not entry.get("userAgent", "").startswith(user_agent) or entry["verb"] == "watch":
                continue
            name = name_of(entry)
            (writes if entry["verb"] in WRITES else reads)[name] += 1
            seconds[name] += time_of(entry["stageTimestamp"]) - time_of(entry["requestReceivedTimestamp"])
            if entry.get("responseStatus", {}).get("code") == 409:
                conflicts[name] += 1
        return writes, reads, conflicts, seconds

    def entries(self) -> Iterator[Object]:
        """Each request since begin(), or since the last call."""
        begin = self._offset
        self._wait_settled()
        with open(self._path, "rb") as log:
            log.seek(begin)
            while log.tell() < self._offset:
                yield json.loads(log.readline())

    def new_entries(self) -> Iterator[Object]:
        """The same, as far as they are written by now."""
        with open(self._path, "rb") as log:
            log.seek(self._offset)
            for line in log:
                if not line.endswith(b"\n"):
                    return  # half a line
                self._offset += len(line)
                yield json.loads(line)

    def _wait_settled(self) -> None:
        size, since = -1, time.monotonic()
        while time.monotonic() - since < SETTLED:
            with open(self._path, "rb") as log:
                now = log.seek(0, 2)
            if now != size:
                size, since = now, time.monotonic()
            time.sleep(0.05)
        self._offset = size
