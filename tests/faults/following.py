"""Lists a kind and follows it: every change once, in the order in which it happened."""

import http.client
import json
import threading
import time
import urllib.parse

from support.api import Api, ApiError

LISTED, GONE = "LISTED", "DELETED"


class Follower(threading.Thread):
    """tell(what, object) gets LISTED for what is there, then ADDED, MODIFIED and DELETED; called from this thread.

    relisted() is called if the server had forgotten where we were, so that events are lost; without it that is an error.
    """

    def __init__(self, kubeconfig, kind, tell, relisted=None, namespace=None, **selectors):
        super().__init__(daemon=True)
        self._api, self._kind, self._tell, self._relisted = Api(kubeconfig), kind, tell, relisted
        self._namespace, self._selectors = namespace, selectors
        self._closed = threading.Event()
        self.version = None  # of the list, then of the last event
        self.problem = None

    def list(self):
        """Before start(), so that nothing is followed that was not listed."""
        answer = self._api.call("GET", self._api.url(self._kind, self._namespace, **self._selectors))
        for item in answer["items"]:
            self._tell(LISTED, item)
        self.version = int(answer["metadata"]["resourceVersion"])
        return self

    def close(self):
        self._closed.set()

    def run(self):
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

    def _follow(self):
        query = {"watch": "true", "resourceVersion": self.version, "timeoutSeconds": 600, **self._selectors}
        url = self._api.url(self._kind, self._namespace) + "?" + urllib.parse.urlencode(query)
        connection, stream = self._api.open(url)
        try:
            for line in stream:
                if self._closed.is_set():
                    return
                event = json.loads(line)
                if event["type"] == "ERROR":
                    raise ApiError(event["object"].get("code", 500), event["object"], url)
                self.version = int(event["object"]["metadata"]["resourceVersion"])
                self._tell(event["type"], event["object"])
        finally:
            connection.close()
