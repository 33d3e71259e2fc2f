"""Follows GpuJobs as they change."""

import json
import queue
import threading


class JobWatch:
    """The newest state of every job of namespace default, by name. wait() is for one thread."""

    def __init__(self, kubectl):
        self._kubectl, self._changes, self._stopped = kubectl, queue.Queue(), threading.Event()
        self._stream = None
        self.jobs = {}
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def wait(self, seconds):
        """Until a job changes, at most this long; returns the jobs that changed."""
        changed = []
        try:
            changed.append(self._changes.get(timeout=seconds))
            while True:
                changed.append(self._changes.get_nowait())
        except queue.Empty:
            pass
        for job in changed:
            self.jobs[job["metadata"]["name"]] = job
        return changed

    def stop(self):
        self._stopped.set()
        if self._stream:
            self._stream.terminate()
        self._thread.join(5)

    def _follow(self):
        while not self._stopped.is_set():
            with self._kubectl.stream("get", "gpujobs", "-n", "default", "--watch", "-o", "json") as self._stream:
                for document in _documents(self._stream.stdout):
                    for job in document.get("items", [document]):
                        self._changes.put(job)
            self._stopped.wait(0.5)  # kubectl ended: the API server closes a watch now and then


def _documents(lines):
    """JSON objects as kubectl prints them one after the other: each ends with a brace in the first column."""
    text = ""
    for line in lines:
        text += line
        if line.rstrip() == "}":
            yield json.loads(text)
            text = ""
