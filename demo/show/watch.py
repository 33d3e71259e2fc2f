"""Follows objects of one kind as they change."""

import json
import queue
import threading


class Watch:
    """The newest state of every object of a kind, in namespace default if it has one, by name. wait() is for one thread."""

    def __init__(self, kubectl, kind):
        self._kubectl, self._kind = kubectl, kind
        self._changes, self._stopped = queue.Queue(), threading.Event()
        self._stream = None
        self.objects = {}
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def wait(self, seconds):
        """Until an object changes, at most this long; returns those that changed."""
        changed = []
        try:
            changed.append(self._changes.get(timeout=seconds))
            while True:
                changed.append(self._changes.get_nowait())
        except queue.Empty:
            pass
        for item in changed:
            self.objects[item["metadata"]["name"]] = item
        return changed

    def stop(self):
        self._stopped.set()
        if self._stream:
            self._stream.terminate()
        self._thread.join(5)

    def _follow(self):
        while not self._stopped.is_set():
            with self._kubectl.stream("get", self._kind, "-n", "default", "--watch", "-o", "json") as self._stream:
                for document in _documents(self._stream.stdout):
                    for item in document.get("items", [document]):
                        self._changes.put(item)
            self._stopped.wait(0.5)  # kubectl ended: the API server closes a watch now and then


def _documents(lines):
    """JSON objects as kubectl prints them one after the other: each ends with a brace in the first column."""
    text = ""
    for line in lines:
        text += line
        if line.rstrip() == "}":
            yield json.loads(text)
            text = ""
