# SPDX-License-Identifier: Apache-2.0
"""Writes an object of every kind twice a second, so that a watch without events is known to be late or not."""

import os
import threading
import time
from typing import Any, Iterable

from tests.kit.api import Api, ApiError, Object

NAME = f"checker-clock-{os.getpid()}"  # of the namespace and of everything in it
ELECTION_NAMESPACE = "default"
SENT = "checker.test/sent"
PERIOD = 0.5

_META: Object = {"metadata": {"name": NAME}}
_POD: Object = {"schedulerName": "nobody", "automountServiceAccountToken": False,
        "containers": [{"name": "none", "image": "none"}]}
_OURS: Object = {"apiVersion": "gpupool.dev/v1alpha1"}
_TICKERS: dict[str, Object] = {
    "nodes": {**_META, "status": {"conditions": [{"type": "Ready", "status": "False"}]}},  # no node controller knows none
    "pods": {"metadata": {"name": NAME, "namespace": NAME}, "spec": _POD},
    "gpunodes": {**_OURS, "kind": "GpuNode", **_META},
    "gpupools": {**_OURS, "kind": "GpuPool", **_META, "spec": {"nodeSelector": {"matchLabels": {NAME: "none"}}}},
    "gpujobs": {**_OURS, "kind": "GpuJob", "metadata": {"name": NAME, "namespace": NAME},
                "spec": {"pool": NAME, "suspend": True, "template": {"spec": _POD}}},
    "gpubillrecords": {**_OURS, "kind": "GpuBillRecord", **_META,
                       "spec": {"namespace": NAME, "job": NAME, "jobUID": NAME, "bill": {"cost": "0.000000"}}},
    "leases": {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
               "metadata": {"name": NAME, "namespace": ELECTION_NAMESPACE}, "spec": {}},
}


class Clock(threading.Thread):
    def __init__(self, api: Api, kinds: Iterable[str]) -> None:
        super().__init__(daemon=True)
        self._api, self._kinds, self._closed = api, kinds, threading.Event()

    def set_up(self) -> None:
        self._make("namespaces", {"metadata": {"name": NAME}})
        self._make("serviceaccounts", {"metadata": {"name": "default", "namespace": NAME}})
        for kind in self._kinds:
            self._make(kind, _TICKERS[kind])

    def _make(self, kind: str, body: Any) -> None:
        try:
            self._api.create(kind, body)
        except ApiError as error:
            if error.code != 409:
                raise

    def run(self) -> None:
        while not self._closed.wait(PERIOD):
            self.tick()

    def tick(self) -> int:
        """A revision that every watch reaches unless it is lost. What is written says when it was sent."""
        revisions = []
        for kind in self._kinds:
            namespace = _TICKERS[kind]["metadata"].get("namespace")
            try:
                change = {"metadata": {"annotations": {SENT: str(time.monotonic())}}}
                written = self._api.patch(kind, NAME, change, namespace)
                revisions.append(int(written["metadata"]["resourceVersion"]))
            except (ApiError, OSError):
                pass  # a server that is away is not what is checked here
        return min(revisions, default=0)

    def close(self) -> None:
        self._closed.set()
        self.join()
        for kind in self._kinds:
            self._api.delete(kind, NAME, _TICKERS[kind]["metadata"].get("namespace"), gracePeriodSeconds=0)
        self._api.delete("namespaces", NAME)


def delay(objekt: Object, received: float) -> float:
    """Seconds from the moment in which something was written until a watch showed it; 0 if it is none of these."""
    return received - float(objekt["metadata"].get("annotations", {}).get(SENT, received))
