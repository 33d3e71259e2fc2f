# SPDX-License-Identifier: Apache-2.0
"""Keeps one host file for each Service, written from watches of Services and Endpoints.

Not-ready addresses need no care here: with publishNotReadyAddresses the endpoints controller lists them as ready.
"""

import http.client
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
sys.path[0] = str(next(p for p in Path(__file__).resolve().parents if (p / "CMakePresets.json").exists()))

from tests.cluster.harness.api import Api  # noqa: E402
from tests.cluster.harness.errors import ClusterError  # noqa: E402
from tests.cluster.harness.state import State  # noqa: E402
from tests.kit.api import Object  # noqa: E402

DOMAIN = "svc.cluster.local"
RETRY_SECONDS = 0.2


def host_lines(namespace: str, name: str, service: Object, endpoints: Object) -> list[str]:
    """The records of one Service: its own address, or those of its pods by service and by host name."""
    full = f"{name}.{namespace}.{DOMAIN}"
    address = service.get("spec", {}).get("clusterIP", "None")
    if address not in ("None", ""):
        return [f"{address} {full}"]
    lines = []
    for subset in endpoints.get("subsets") or []:
        for item in subset.get("addresses") or []:
            names = [f"{item['hostname']}.{full}"] if item.get("hostname") else []
            lines.append(" ".join([item["ip"], *names, full]))
    return sorted(set(lines))


class Records:
    """Services and Endpoints as last seen. Safe for several threads."""

    def __init__(self, folder: str) -> None:
        self._folder, self._lock = folder, threading.Lock()
        self._seen = {"services": {}, "endpoints": {}}

    def replace(self, kind: str, objects: list[Object]) -> None:
        with self._lock:
            fresh = {self._key(item): item for item in objects}
            changed = set(self._seen[kind]) | set(fresh)
            self._seen[kind] = fresh
            for key in changed:
                self._write(key)

    def change(self, kind: str, item: Object, deleted: bool) -> None:
        with self._lock:
            key = self._key(item)
            if deleted:
                self._seen[kind].pop(key, None)
            else:
                self._seen[kind][key] = item
            self._write(key)

    @staticmethod
    def _key(item: Object) -> tuple[Any, Any]:
        return item["metadata"]["namespace"], item["metadata"]["name"]

    def _write(self, key: tuple[str, str]) -> None:
        namespace, name = key
        path = os.path.join(self._folder, f"{namespace}_{name}")
        service = self._seen["services"].get(key)
        lines = host_lines(namespace, name, service, self._seen["endpoints"].get(key, {})) if service else []
        text = "".join(line + "\n" for line in lines)
        try:
            with open(path, encoding="utf-8") as current:
                before = current.read()
        except FileNotFoundError:
            before = ""
        if text == before:
            return
        if not text:
            os.unlink(path)
            return
        # dnsmasq ignores files that begin with a dot, and takes the new one up at the rename.
        hidden = os.path.join(self._folder, f".{namespace}_{name}")
        with open(hidden, "w", encoding="utf-8") as out:
            out.write(text)
        os.rename(hidden, path)


def follow(state: State, kind: str, records: Records) -> None:
    """Lists, then watches until the connection ends or the server says that the version is gone."""
    listed = Api(state).get(f"/api/v1/{kind}")
    records.replace(kind, listed["items"])
    version = listed["metadata"]["resourceVersion"]
    connection, response = Api(state, timeout=330).open(
        "GET", f"/api/v1/{kind}?watch=true&timeoutSeconds=300&resourceVersion={version}")
    try:
        for line in response:
            event = json.loads(line)
            if event["type"] == "ERROR":
                return
            records.change(kind, event["object"], event["type"] == "DELETED")
    finally:
        connection.close()


def follow_forever(state: State, kind: str, records: Records) -> None:
    while True:
        try:
            follow(state, kind, records)
        except (ClusterError, OSError, ValueError, http.client.HTTPException) as error:
            print(f"{kind}: {error}", flush=True)
            time.sleep(RETRY_SECONDS)


def main() -> None:
    state = State(sys.argv[1])
    records = Records(state.path("dns"))
    threading.Thread(target=follow_forever, args=(state, "services", records), daemon=True).start()
    follow_forever(state, "endpoints", records)


if __name__ == "__main__":
    main()
