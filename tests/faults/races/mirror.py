# SPDX-License-Identifier: Apache-2.0
"""Pods and nodes as a watch shows them, for kubelets that are too many to ask for lists."""

import threading
from typing import Any, Callable

from tests.kit.api import Api, Object
from tests.kit.follower import GONE, Follower
from tests.kit.names import JOB_UID


class Mirror:
    """Has what Binder asks of an Api."""

    def __init__(self, api: Api, on_pod: Callable[[Object], Any]) -> None:
        self._api, self._on_pod, self._lock = api, on_pod, threading.Lock()
        self._objects = {"pods": {}, "nodes": {}}  # kind: {UID: object}
        self._bindings = {}  # (namespace, name): node, of pods that a watch has yet to show as bound
        self.url = api.url
        self._followers = [Follower(api.path, "pods", self._teller("pods"), self._forget("pods"), labelSelector=JOB_UID),
                           Follower(api.path, "nodes", self._teller("nodes"), self._forget("nodes"))]

    def start(self) -> None:
        for follower in self._followers:
            follower.list().start()

    def close(self) -> None:
        for follower in self._followers:
            follower.close()

    def list(self, kind: str, **_: Any) -> list[Object]:
        with self._lock:
            return list(self._objects[kind].values())

    def pod(self, uid: str) -> Object | None:
        with self._lock:
            return self._objects["pods"].get(uid)

    def call(self, method: str, path: str, body: Any) -> Any:
        """Also what the watch will say of it in a moment."""
        answer = self._api.call(method, path, body)
        if body["kind"] == "Binding":
            key = (path.split("/")[4], body["metadata"]["name"])
            with self._lock:
                self._bindings[key] = body["target"]["name"]
                for pod in self._objects["pods"].values():
                    self._complete(pod)
        return answer

    def _complete(self, pod: Object) -> None:
        key = (pod["metadata"]["namespace"], pod["metadata"]["name"])
        if pod["spec"].get("nodeName"):
            self._bindings.pop(key, None)
        elif key in self._bindings:
            pod["spec"]["nodeName"] = self._bindings[key]

    def _forget(self, kind: str) -> Callable[..., Any]:
        def forget() -> None:
            with self._lock:
                self._objects[kind].clear()
        return forget

    def _teller(self, kind: str) -> Callable[..., Any]:
        def tell(what: str, objekt: Object) -> None:
            uid = objekt["metadata"]["uid"]
            with self._lock:
                if what == GONE:
                    self._objects[kind].pop(uid, None)
                    self._bindings.pop((objekt["metadata"].get("namespace"), objekt["metadata"]["name"]), None)
                    return
                if kind == "pods":
                    self._complete(objekt)
                self._objects[kind][uid] = objekt
            if kind == "pods":
                self._on_pod(objekt)
        return tell
