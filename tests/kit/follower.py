# SPDX-License-Identifier: Apache-2.0
"""Lists a kind and watches it: every change once, in the order in which it happened."""

import http.client
import json
import socket
import threading
import time
import urllib.parse
from typing import Any, Callable

from tests.kit.api import Api, ApiError, Object

LISTED, GONE = "LISTED", "DELETED"


class Follower(threading.Thread):
    """tell(what, object) gets LISTED for what is there, then ADDED, MODIFIED and DELETED; called from this thread.

    relisted() is called if the server had forgotten where we were, so that events are lost; without it that is an error.
    """

    def __init__(self, kubeconfig: str, kind: str, tell: Callable[[str, Object], Any],
                 relisted: Callable[[], Any] | None = None, namespace: str | None = None, **selectors: Any) -> None:
        super().__init__(daemon=True)
        self._api, self._kind, self._tell, self._relisted = Api(kubeconfig), kind, tell, relisted
        self._namespace, self._selectors = namespace, selectors
        self._closed = threading.Event()
        self._connection: http.client.HTTPSConnection | None = None
        self.version = 0  # of the list, then of the last event
        self.problem: str | None = None

    def list(self) -> "Follower":
        """Before start(), so that nothing is followed that was not listed."""
        answer = self._api.call("GET", self._api.url(self._kind, self._namespace, **self._selectors))
        for item in answer["items"]:
            self._tell(LISTED, item)
        self.version = int(answer["metadata"]["resourceVersion"])
        return self

    def close(self) -> None:
        """Nothing is told any more soon after."""
        self._closed.set()
        connection = self._connection
        if connection is not None and connection.sock is not None:
            try:
                connection.sock.shutdown(socket.SHUT_RDWR)  # wakes the reader
            except OSError:
                pass  # it has ended by itself

    def run(self) -> None:
        while not self._closed.is_set():
            try:
                self._follow()
            except (OSError, ValueError, http.client.HTTPException):
                time.sleep(0.1)  # the server is away: from where we were, in a moment
            except ApiError as error:
                if error.code == 410 and self._relisted:
                    self._relisted()
                    self.list()
                elif error.code == 410:
                    self.problem = f"the server has forgotten {self._kind} since {self.version}"
                    return

    def _follow(self) -> None:
        query = {"watch": "true", "resourceVersion": self.version, "timeoutSeconds": 600, **self._selectors}
        url = self._api.url(self._kind, self._namespace) + "?" + urllib.parse.urlencode(query)
        self._connection, stream = self._api.open(url)
        try:
            if self._closed.is_set():
                return
            for line in stream:
                if self._closed.is_set():
                    return
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(event["object"].get("code", 500), event["object"], url)
                self.version = int(event["object"]["metadata"]["resourceVersion"])
                self._tell(event["type"], event["object"])
        finally:
            self._connection.close()
