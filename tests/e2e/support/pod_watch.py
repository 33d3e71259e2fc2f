"""Sees every state of a namespace's pods, also of those that are gone before one could ask."""

import http.client
import json
import socket
import threading

from .api import Api
from .waiting import wait_for


class PodWatch:
    """A context manager: what the workers left as results while it was open."""

    def __init__(self, kubeconfig, namespace):
        self._api = Api(kubeconfig)  # with a connection of its own
        self._namespace = namespace
        self._stopped = False
        self._results = {}
        self._nodes = {}
        self._connection = self._stream = self._thread = None
        self._lock = threading.Lock()

    def __enter__(self):
        version = self._api.call("GET", self._api.url("pods", self._namespace))["metadata"]["resourceVersion"]
        query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": "900"}
        self._connection, self._stream = self._api.open(self._api.url("pods", self._namespace, **query))
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped = True
        self._connection.sock.shutdown(socket.SHUT_RDWR)  # wakes the reader
        self._thread.join(10)
        self._stream.close()
        self._connection.close()

    def _read(self):
        try:
            for line in self._stream:
                self._note(json.loads(line)["object"])
        except (OSError, ValueError, http.client.HTTPException):
            if not self._stopped:
                raise

    def _note(self, pod):
        name = pod["metadata"]["name"]
        with self._lock:
            self._nodes[name] = pod["spec"].get("nodeName")
            for container in pod["status"].get("containerStatuses", []):
                for state in (container["state"], container["lastState"]):
                    message = state.get("terminated", {}).get("message", "")
                    if message.startswith("{"):
                        self._results[name] = json.loads(message)

    def nodes(self):
        """Where the pods were."""
        with self._lock:
            return set(self._nodes.values()) - {None}

    def tails(self, workers):
        """The last lines that each of so many workers printed, by pod. A watch may tell of them a moment after a job's end."""
        wait_for(f"the results of {workers} workers", lambda: len(self._tails()) >= workers, detail=lambda: str(self._tails()))
        return self._tails()

    def _tails(self):
        with self._lock:
            return {name: result.get("tail", "") for name, result in self._results.items()}
