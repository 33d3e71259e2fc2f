"""Sees every change of the objects of a kind, however short."""

import http.client
import json
import socket
import threading


class Watch:
    """A context manager. note(object) is called for those that are there, and for each change, until the end."""

    def __init__(self, api, kind, namespace, note):
        self._api, self._kind, self._namespace, self._note = api, kind, namespace, note
        self._over = False
        self.changes, self.error = 0, None

    def __enter__(self):
        found = self._api.call("GET", self._api.url(self._kind, self._namespace))
        for item in found["items"]:
            self._note(item)
        query = {"watch": "true", "resourceVersion": found["metadata"]["resourceVersion"], "timeoutSeconds": "900"}
        self._connection, self._stream = self._api.open(self._api.url(self._kind, self._namespace, **query))
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over = True
        self._connection.sock.shutdown(socket.SHUT_RDWR)  # wakes the reader
        self._thread.join(10)

    def _read(self):
        try:
            for line in self._stream:
                self._note(json.loads(line)["object"])
                self.changes += 1
            self.error = "the server ended the watch"
        except (OSError, ValueError, KeyError, http.client.HTTPException) as error:
            self.error = repr(error)

    def saw_all(self):
        """To be asked before the end: nothing was missed."""
        return self.error is None and not self._over
