# SPDX-License-Identifier: Apache-2.0
"""A hundred writers that edit their own taints, labels and annotations of the same nodes, and check that these stay."""

import collections
import random
import threading
from typing import Any, Callable

from tests.kit.api import CONNECTION_ERRORS, Api, ApiError, Object

PREFIX = "foreign.test/w"
STRATEGIC_MERGE, APPLY = "application/strategic-merge-patch+json", "application/apply-patch+yaml"
EDITED = "node edited by others: "
GIVEN_UP = EDITED + "given up"
AT_LEAST = 3  # edits of each
TRIES = 40  # each failed one means that somebody else has written the node meanwhile


class ForeignWriter(threading.Thread):
    """Writes nodes as other programs do; its last write must be there whenever it reads the node."""

    def __init__(self, api: Api, number: int, nodes: list[str], seed: int, pause: float) -> None:
        super().__init__(daemon=True)
        self._api, self._key, self._nodes, self._pause = api, f"{PREFIX}{number}", nodes, pause
        self._numbers, self._closed = random.Random(f"{seed}/{number}"), threading.Event()
        self._left = {}  # node: (UID, entries it shall have)
        self.edits: collections.Counter[str] = collections.Counter()
        self.losses: list[str] = []

    def close(self) -> None:
        self._closed.set()

    def run(self) -> None:
        ways = (self._update_all, self._replace_taints, self._patch_by_index, self._merge_labels, self._add_one_by_one,
                self._apply)
        while not self._closed.wait(self._numbers.uniform(0, 2 * self._pause)):
            name, way = self._numbers.choice(self._nodes), self._numbers.choice(ways)
            try:
                done = self._edit(name, way)
                self.edits[EDITED + way.__name__.strip("_").replace("_", " ") if done else GIVEN_UP] += 1
            except ApiError as error:
                if error.code != 404:
                    self.losses.append(f"{self._key}: {error}")
            except CONNECTION_ERRORS:
                self._left.pop(name, None)  # nobody knows whether it was written
        for name in list(self._left):
            self._check(self._api.find("nodes", name))

    def _edit(self, name: str, way: Callable[[Object, Object], None]) -> bool:
        for _ in range(TRIES):
            node = self._api.get("nodes", name)
            self._check(node)
            wanted = self._entries(node)
            try:
                way(node, wanted)
            except ApiError as error:
                if error.code in (409, 422):  # a stale version; paths of a list that has changed
                    continue
                raise
            self._left[name] = (node["metadata"]["uid"], wanted)
            return True
        return False  # others were faster each time: nothing was written, so nothing is lost

    def _check(self, node: Object | None) -> None:
        """Everything it left on this very node is there, to the byte."""
        if node is None:
            return
        uid, left = self._left.get(node["metadata"]["name"], ("", None))
        if left is not None and uid == node["metadata"]["uid"] and self._entries(node) != left:
            self.losses.append(f"{self._key} left {left} on node {node['metadata']['name']}, found {self._entries(node)}")
            del self._left[node["metadata"]["name"]]

    def _entries(self, node: Object) -> dict[str, Any]:
        meta = node["metadata"]
        taints = [t for t in node["spec"].get("taints", []) if t["key"] == self._key]
        return {"taint": taints[0] if taints else None, "label": meta.get("labels", {}).get(self._key),
                "annotation": meta.get("annotations", {}).get(self._key)}

    def _word(self) -> str:
        return "".join(self._numbers.choice("abcXYZ019") for _ in range(self._numbers.randint(1, 12)))

    def _text(self) -> str:
        return "".join(self._numbers.choice("{}\"\\ \n\u00e9\u4e16~/.gpupool") for _ in range(self._numbers.randint(0, 40)))

    def _taint(self) -> dict[str, Any]:
        return {"key": self._key, "value": self._word(), "effect": "PreferNoSchedule"}

    def _new_taints(self, node: Object, wanted: Object) -> list[Any]:
        """As it was read, with ours set, changed in its place, or removed."""
        taints = list(node["spec"].get("taints", []))
        at = next((i for i, t in enumerate(taints) if t["key"] == self._key), None)
        wanted["taint"] = self._taint() if at is None or self._numbers.random() < 0.5 else None
        if at is None:
            return [*taints, wanted["taint"]]
        return [*taints[:at], *([wanted["taint"]] if wanted["taint"] else []), *taints[at + 1:]]

    def _send(self, node: Object, change: Any, how: str) -> None:
        self._api.call("PATCH", self._api.url("nodes", name=node["metadata"]["name"]), change, how)

    def _update_all(self, node: Object, wanted: Object) -> None:
        """PUT of what was read, as cluster autoscalers do."""
        node["spec"]["taints"] = self._new_taints(node, wanted)
        wanted["label"], wanted["annotation"] = self._word(), self._text()
        node["metadata"].setdefault("labels", {})[self._key] = wanted["label"]
        node["metadata"].setdefault("annotations", {})[self._key] = wanted["annotation"]
        self._api.call("PUT", self._api.url("nodes", name=node["metadata"]["name"]), node)

    def _replace_taints(self, node: Object, wanted: Object) -> None:
        """The whole list with the version that it was made from, as node controllers do."""
        change = {"metadata": {"resourceVersion": node["metadata"]["resourceVersion"]},
                  "spec": {"taints": self._new_taints(node, wanted)}}
        self._send(node, change, STRATEGIC_MERGE)

    def _patch_by_index(self, node: Object, wanted: Object) -> None:
        taints, wanted["taint"] = node["spec"].get("taints", []), self._taint()
        at = next((i for i, t in enumerate(taints) if t["key"] == self._key), None)
        patch = [{"op": "replace", "path": "/metadata/resourceVersion", "value": node["metadata"]["resourceVersion"]}]
        if at is not None:
            patch.append({"op": "replace", "path": f"/spec/taints/{at}", "value": wanted["taint"]})
        elif taints:
            patch.append({"op": "add", "path": "/spec/taints/-", "value": wanted["taint"]})
        else:
            patch.append({"op": "add", "path": "/spec/taints", "value": [wanted["taint"]]})
        self._send(node, patch, "application/json-patch+json")

    def _merge_labels(self, node: Object, wanted: Object) -> None:
        """Without a version, as kubectl label and cloud controllers do."""
        wanted["label"], wanted["annotation"] = self._word(), self._numbers.choice((None, self._text()))
        self._send(node, {"metadata": {"labels": {self._key: wanted["label"]},
                                       "annotations": {self._key: wanted["annotation"]}}}, "application/merge-patch+json")

    def _add_one_by_one(self, node: Object, wanted: Object) -> None:
        wanted["label"] = self._word()
        path = "/metadata/labels/" + self._key.replace("/", "~1")
        self._send(node, [{"op": "add", "path": path, "value": wanted["label"]}], "application/json-patch+json")

    def _apply(self, node: Object, wanted: Object) -> None:
        """Server-side apply of an annotation, as GitOps tools do."""
        wanted["annotation"] = self._text()
        name = node["metadata"]["name"]
        body = {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": name, "annotations": {self._key: wanted["annotation"]}}}
        url = self._api.url("nodes", name=name, fieldManager=self._key.replace("/", "-"), force="true")
        self._api.call("PATCH", url, body, APPLY)


class ForeignWriters:
    def __init__(self, api: Api, nodes: list[str], seed: int, count: int, pause: float = 4) -> None:
        """pause: seconds between two edits of one writer. With less the server takes a second for each write of a node."""
        self._writers = [ForeignWriter(api, number, nodes, seed, pause) for number in range(count)]

    def start(self) -> None:
        for writer in self._writers:
            writer.start()

    def close(self) -> None:
        for writer in self._writers:
            writer.close()
        for writer in self._writers:
            writer.join()

    def edits(self) -> collections.Counter[str]:
        return sum((writer.edits for writer in self._writers), collections.Counter[str]())

    def losses(self) -> list[str]:
        return [loss for writer in self._writers for loss in writer.losses]

    def idle(self) -> list[int]:
        """Writers that have hardly written yet."""
        return [number for number, writer in enumerate(self._writers)
                if writer.edits.total() - writer.edits[GIVEN_UP] < AT_LEAST]
