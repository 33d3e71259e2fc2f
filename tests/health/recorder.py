"""Keeps every version of the GpuJobs of a namespace: some states last for milliseconds."""

import http.client
import json
import socket
import threading

from support.api import Api
from support.waiting import wait_for


class Recorder:
    """From start() to close()."""

    def __init__(self, kubeconfig, namespace):
        self._api, self._namespace = Api(kubeconfig), namespace
        self._versions, self._lock, self._closed = [], threading.Lock(), False
        self._connection = self._stream = self._thread = None

    def start(self):
        version = self._api.call("GET", self._api.url("gpujobs", self._namespace))["metadata"]["resourceVersion"]
        url = self._api.url("gpujobs", self._namespace, watch="true", resourceVersion=version, timeoutSeconds="900")
        self._connection, self._stream = self._api.open(url)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def close(self):
        self._closed = True
        self._connection.sock.shutdown(socket.SHUT_RDWR)  # wakes the reader
        self._thread.join(10)
        self._stream.close()
        self._connection.close()

    def _read(self):
        try:
            for line in self._stream:
                with self._lock:
                    self._versions.append(json.loads(line)["object"])
        except (OSError, ValueError, http.client.HTTPException):
            if not self._closed:
                raise

    def first(self, name, what, fits):
        """The first version of this job whose status fits."""
        def found():
            with self._lock:
                return next((v for v in self._versions if v["metadata"]["name"] == name and fits(v.get("status") or {})),
                            None)
        return wait_for(f"{what} of {name}", found, 60)
