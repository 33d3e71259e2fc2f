# SPDX-License-Identifier: Apache-2.0
"""Follows objects of one kind as they change."""

import json
import queue
import subprocess
import threading
from typing import Any, Iterable, Iterator

from demo.show.kubectl import Kubectl
from tests.kit.api import Object


class Watch:
    """The newest state of every object of a kind, in namespace default if it has one, by name. wait() is for one thread."""

    def __init__(self, kubectl: Kubectl, kind: str) -> None:
        self._kubectl, self._kind = kubectl, kind
        self._changes: queue.Queue[Object] = queue.Queue()
        self._stopped = threading.Event()
        self._stream: subprocess.Popen | None = None
        self.objects: dict[str, Object] = {}
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> list[Object]:
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

    def stop(self) -> None:
        self._stopped.set()
        if self._stream:
            self._stream.terminate()
        self._thread.join(5)

    def _follow(self) -> None:
        while not self._stopped.is_set():
            stream = self._stream = self._kubectl.stream("get", self._kind, "-n", "default", "--watch", "-o", "json")
            with stream:
                for document in _documents(stream.stdout or []):
                    for item in document.get("items", [document]):
                        self._changes.put(item)
            self._stopped.wait(0.5)  # kubectl ended: the API server closes a watch now and then


def _documents(lines: Iterable[str]) -> Iterator[Any]:
    """JSON objects as kubectl prints them one after the other: each ends with a brace in the first column."""
    text = ""
    for line in lines:
        text += line
        if line.rstrip() == "}":
            yield json.loads(text)
            text = ""
