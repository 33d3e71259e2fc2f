"""Counts requests in the API server's audit log."""

import collections
import datetime
import json
import time

WRITES = {"create", "update", "patch", "delete", "deletecollection"}
SETTLED = 0.5  # seconds without a new line: the log is written a little later than the answer


def _time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Audit:
    def __init__(self, path):
        self._path = path
        self._offset = 0

    def begin(self):
        """What was asked so far does not count."""
        self._wait_settled()

    def counts(self, user_agent):
        """Since begin(): (writes, reads, conflicts, seconds that the server took), each Counter by verb and resource.

        Watches are left out.
        """
        begin = self._offset
        self._wait_settled()
        writes, reads, conflicts, seconds = (collections.Counter() for _ in range(4))
        with open(self._path, "rb") as log:
            log.seek(begin)
            for line in log.read(self._offset - begin).splitlines():
                entry = json.loads(line)
                if not entry.get("userAgent", "").startswith(user_agent) or entry["verb"] == "watch":
                    continue
                ref = entry.get("objectRef", {})
                what = "/".join(filter(None, (ref.get("resource", entry["requestURI"]), ref.get("subresource"))))
                name = f"{entry['verb']} {what}"
                (writes if entry["verb"] in WRITES else reads)[name] += 1
                seconds[name] += _time(entry["stageTimestamp"]) - _time(entry["requestReceivedTimestamp"])
                if entry.get("responseStatus", {}).get("code") == 409:
                    conflicts[name] += 1
        return writes, reads, conflicts, seconds

    def _wait_settled(self):
        size, since = -1, time.monotonic()
        while time.monotonic() - since < SETTLED:
            with open(self._path, "rb") as log:
                now = log.seek(0, 2)
            if now != size:
                size, since = now, time.monotonic()
            time.sleep(0.05)
        self._offset = size
