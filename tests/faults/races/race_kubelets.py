# SPDX-License-Identifier: Apache-2.0
"""Scheduler and kubelets for many nodes at once: they do what pods ask for in their annotations."""

import heapq
import queue
import threading
import time
from typing import Callable

from tests.faults.races.mirror import Mirror
from tests.faults.run_record import RunRecord
from tests.kit.api import CONNECTION_ERRORS, Api, ApiError, Object
from tests.kit.played.binder import GpuBinder
from tests.kit.played.kubelet import Workers
from tests.kit.played.plugins import FakePlugins
from tests.kit.played.workers import is_deleted

RUNS_MS, EXITS = "races.test/runs-ms", "races.test/exits"  # annotations of a pod
KUBELETS = 4  # threads; a node is always served by the same
RETRY_AFTER = 0.1
RESYNC_PERIOD = 5.0

Task = Callable[[Object], None]
Lane = queue.Queue[tuple[Task, str]]  # what is to be done with the pod of this UID


class RaceKubelets(Workers):
    """Driven by a watch, with a queue for each kubelet. Each worker ends by itself, after the time in its annotation."""

    def __init__(self, api: Api) -> None:
        self.run_record = RunRecord(api)
        self._lanes: list[Lane] = [queue.Queue() for _ in range(KUBELETS)]
        self._scheduler_lane: Lane = queue.Queue()
        self._later: list[tuple[float, int, Lane, Task, str]] = []  # heap of (when, number, lane, task, UID)
        self._earliest_changed = threading.Condition()
        self._number = 0
        self._mirror = Mirror(api, self._route)
        self._begun: set[str] = set()  # UIDs of pods
        self._ended: set[str] = set()
        super().__init__(api, FakePlugins(api), GpuBinder(self._mirror), self.run_record, checks_affinity=True)
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._serve, args=(lane,), daemon=True)
                         for lane in (*self._lanes, self._scheduler_lane)]
        self._threads += [threading.Thread(target=work, daemon=True) for work in (self._wake, self._sync)]
        self._mirror.start()
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()
        self._mirror.close()

    def remove(self, node: str) -> None:
        """The machine goes, with all that runs on it."""
        self.dead.add(node)
        self.orphans |= {pod["metadata"]["uid"] for pod in self._mirror.list("pods") if pod["spec"].get("nodeName") == node}
        self.run_record.node_removed(node)

    def revive(self, node: str) -> None:
        """Its kubelet is back and looks at what it has."""
        self.dead.discard(node)
        for pod in self._mirror.list("pods"):
            if pod["spec"].get("nodeName") == node:
                self._route(pod)

    def start(self, pod: Object) -> bool:
        uid = pod["metadata"]["uid"]
        if uid in self._begun or not super().start(pod):  # the watch may show it as it was
            return False
        self._begun.add(uid)
        self._finish_later(pod)
        return True

    def end(self, pod: Object) -> None:
        self._ended.add(pod["metadata"]["uid"])
        super().end(pod)

    def _lane_of(self, node: str) -> Lane:
        return self._lanes[hash(node) % KUBELETS]

    def _route(self, pod: Object) -> None:
        node, uid = pod["spec"].get("nodeName"), pod["metadata"]["uid"]
        if node:
            self._lane_of(node).put((self._look, uid))
        else:
            self._scheduler_lane.put((self._place, uid))

    def _serve(self, lane: Lane) -> None:
        while not self._stop.is_set():
            try:
                task, uid = lane.get(timeout=0.2)
            except queue.Empty:
                continue
            pod = self._mirror.pod(uid)
            if pod is None:
                continue
            try:
                task(pod)
            except ApiError as error:
                if error.code != 404:
                    self._at(time.monotonic() + RETRY_AFTER, lane, task, uid)
            except CONNECTION_ERRORS:
                self._at(time.monotonic() + RETRY_AFTER, lane, task, uid)

    def _place(self, pod: Object) -> None:
        """For the scheduler's lane alone; a bound pod is its kubelet's business."""
        if not pod["spec"].get("nodeName") and not is_deleted(pod):
            self.step(pod)
            self._at(time.monotonic() + RETRY_AFTER, self._scheduler_lane, self._place, pod["metadata"]["uid"])

    def _look(self, pod: Object) -> None:
        if pod["spec"]["nodeName"] not in self.dead:
            self.step(pod)

    def _finish_later(self, pod: Object) -> None:
        meta = pod["metadata"]
        self._at(time.monotonic() + int(meta["annotations"][RUNS_MS]) / 1000, self._lane_of(pod["spec"]["nodeName"]),
                 self._finish_as_told, meta["uid"])

    def _finish_as_told(self, pod: Object) -> None:
        meta, node = pod["metadata"], pod["spec"]["nodeName"]
        if node in self.dead:  # it has ended, and nobody can say so
            self._at(time.monotonic() + RETRY_AFTER, self._lane_of(node), self._finish_as_told, meta["uid"])
            return
        if is_deleted(pod) or meta["uid"] in self._ended:
            return
        self.finish(pod, int(meta["annotations"][EXITS]))
        self._ended.add(meta["uid"])

    def _at(self, when: float, lane: Lane, task: Task, uid: str) -> None:
        with self._earliest_changed:
            self._number += 1
            heapq.heappush(self._later, (when, self._number, lane, task, uid))
            self._earliest_changed.notify()

    def _wake(self) -> None:
        while not self._stop.is_set():
            with self._earliest_changed:
                left = self._later[0][0] - time.monotonic() if self._later else 0.2
                if left > 0:
                    self._earliest_changed.wait(min(left, 0.2))
                    continue
                _, _, lane, task, uid = heapq.heappop(self._later)
            lane.put((task, uid))

    def _sync(self) -> None:
        """Reports of slices; and now and then a look at everything, as kubelets do."""
        looked = time.monotonic()
        while not self._stop.wait(0.2):
            try:
                pods = self._mirror.list("pods")
                self.plugins.sync(pods)
                if time.monotonic() > looked + RESYNC_PERIOD:
                    looked = time.monotonic()
                    for pod in pods:
                        self._route(pod)
                        if pod["status"].get("phase") == "Running":
                            self._finish_later(pod)
            except (ApiError, *CONNECTION_ERRORS):
                pass
