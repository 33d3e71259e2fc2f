"""Scheduler and kubelets for many nodes at once: they do what pods ask for in their annotations."""

import heapq
import http.client
import queue
import threading
import time

from fake_nodes import seconds_now
from kubelet import BookkeepingKubelet
from races.mirror import Mirror
from races.scheduler import Scheduler
from support.api import ApiError
from support.jobs import LEASE, LEASE_LABEL

RUNS_MS, EXITS = "races.test/runs-ms", "races.test/exits"  # annotations of a pod
KUBELETS = 4  # threads; a node is always served by the same
AGAIN = 0.1
LOOKS = 5.0
TROUBLE = (OSError, http.client.HTTPException)  # of the connection


class Players(BookkeepingKubelet):
    def __init__(self, api):
        self._lanes = [queue.Queue() for _ in range(KUBELETS + 1)]  # the last one is the scheduler's
        self._later, self._sooner = [], threading.Condition()  # heap of (when, number, lane, what, pod)
        self._number = 0
        self._mirror = Mirror(api, self._route)
        self.begun, self.ended = set(), set()  # UIDs of pods
        super().__init__(api)
        self._binder = Scheduler(self._mirror)

    def close(self):
        super().close()
        self._mirror.close()

    def remove(self, node):
        """The machine goes, with all that runs on it."""
        self.dead.add(node)
        self._occupied.pop(node, None)

    def revive(self, node):
        """Its kubelet is back and looks at what it has."""
        self.dead.discard(node)
        for pod in self._mirror.list("pods"):
            if pod["spec"].get("nodeName") == node:
                self._route(pod)

    def _run(self):
        self._mirror.start()
        threads = [threading.Thread(target=work, args=args, daemon=True) for work, args in
                   [(self._serve, (lane,)) for lane in self._lanes] + [(self._wake, ()), (self._sync, ())]]
        for thread in threads:
            thread.start()
        self._stop.wait()
        for thread in threads:
            thread.join()

    def _route(self, pod):
        node, uid = pod["spec"].get("nodeName"), pod["metadata"]["uid"]
        if node:
            self._lanes[hash(node) % KUBELETS].put((self._look, uid))
        else:
            self._lanes[KUBELETS].put((self._place, uid))

    def _serve(self, lane):
        while not self._stop.is_set():
            try:
                what, uid = lane.get(timeout=0.2)
            except queue.Empty:
                continue
            pod = self._mirror.pod(uid)
            if pod is None:
                continue
            try:
                what(pod)
            except ApiError as error:
                if error.code != 404:
                    self._at(time.monotonic() + AGAIN, lane, what, uid)
            except TROUBLE:
                self._at(time.monotonic() + AGAIN, lane, what, uid)

    def _place(self, pod):
        """For the scheduler's lane alone; a bound pod is its kubelet's business."""
        if not pod["spec"].get("nodeName") and "deletionTimestamp" not in pod["metadata"]:
            self._step(pod)
            self._at(time.monotonic() + AGAIN, self._lanes[KUBELETS], self._place, pod["metadata"]["uid"])

    def _look(self, pod):
        if pod["spec"]["nodeName"] not in self.dead:
            self._step(pod)

    def _start(self, pod):
        meta = pod["metadata"]
        if meta["uid"] in self.begun:
            return False  # the watch shows it as it was
        if "gpupool.dev/slices" not in meta["labels"] and not self._matches(pod):
            self._write(pod, {"phase": "Failed", "reason": "NodeAffinity", "startTime": seconds_now(),
                              "message": "Pod was rejected: Predicate NodeAffinity failed"})
            return False
        if not super()._start(pod):
            return False
        self.begun.add(meta["uid"])
        self._finish_later(pod)
        return True

    def _finish_later(self, pod):
        meta, lane = pod["metadata"], self._lanes[hash(pod["spec"]["nodeName"]) % KUBELETS]
        self._at(time.monotonic() + int(meta["annotations"][RUNS_MS]) / 1000, lane, self._finish, meta["uid"])

    def _matches(self, pod):
        """As kubelets do: a node that is new under its name has no lease."""
        node = self._api.get("nodes", pod["spec"]["nodeName"])
        return node["metadata"].get("labels", {}).get(LEASE_LABEL) == pod["metadata"]["labels"][LEASE]

    def _finish(self, pod):
        meta, node = pod["metadata"], pod["spec"]["nodeName"]
        if node in self.dead:  # it has ended, and nobody can say so
            self._at(time.monotonic() + AGAIN, self._lanes[hash(node) % KUBELETS], self._finish, meta["uid"])
            return
        if "deletionTimestamp" in meta or meta["uid"] in self.ended:
            return
        self.finish(pod, int(meta["annotations"][EXITS]))
        self.ended.add(meta["uid"])

    def _end(self, pod):
        self.ended.add(pod["metadata"]["uid"])
        super()._end(pod)

    def _at(self, when, lane, what, uid):
        with self._sooner:
            self._number += 1
            heapq.heappush(self._later, (when, self._number, lane, what, uid))
            self._sooner.notify()

    def _wake(self):
        while not self._stop.is_set():
            with self._sooner:
                left = self._later[0][0] - time.monotonic() if self._later else 0.2
                if left > 0:
                    self._sooner.wait(min(left, 0.2))
                    continue
                _, _, lane, what, uid = heapq.heappop(self._later)
            lane.put((what, uid))

    def _sync(self):
        """Reports of slices; and now and then a look at everything, as kubelets do."""
        looked = time.monotonic()
        while not self._stop.wait(0.2):
            try:
                pods = self._mirror.list("pods")
                self.plugins.sync(pods)
                if time.monotonic() > looked + LOOKS:
                    looked = time.monotonic()
                    for pod in pods:
                        self._route(pod)
                        if pod["status"].get("phase") == "Running":
                            self._finish_later(pod)
            except (ApiError, *TROUBLE):
                pass
