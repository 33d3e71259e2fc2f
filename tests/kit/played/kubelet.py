# SPDX-License-Identifier: Apache-2.0
"""The kubelets of nodes without machines: workers that run, end when told, and end when deleted.

Workers has the behaviour, PlayedKubelet lists the pods again and again and lets it act. A test that wants other times, a
scheduler of its own or a record of what ran says so with the arguments. gpupool-carry fetches and saves as transfers says.
"""

import json
import signal
import threading
import time
from typing import Any, Protocol, Sequence

from tests.kit.api import Api, ApiError, Object
from tests.kit.names import JOB_UID
from tests.kit.played.binder import Binder, has_lease_of
from tests.kit.played.plugins import FakePlugins
from tests.kit.played.transfers import RESULTS, SOURCE, End, Transfers, has_results, has_source, image_of, is_wanted, status_of
from tests.kit.played.worker_result import container_status, reason_of, terminated
from tests.kit.played.workers import attempt_of, is_deleted, is_gang, rank_of, saves_its_work, shares_a_node, slices_of
from tests.kit.times import seconds_now, unix_seconds

POLL = 0.1
RESTART_AFTER = 1  # seconds, of a container that failed
NEVER_RAN = "ContainerStatusUnknown"  # what kubelets say of a container that never ran in a pod that they ended


class Scheduler(Protocol):
    def bind(self, pod: Object) -> None:
        """Gives the pod a node, if one is free."""


def step_of_attempt(pod: Object) -> str:
    """The last report of a program that saves its work: 100 in its first attempt, 200 in its second."""
    step = 100 * (attempt_of(pod) + 1)
    return json.dumps({"step": step, "path": f"step-{step}"})


class Observer:
    """Is told what happens to every worker. This one ignores it."""

    def starting(self, pod: Object) -> None:
        """It is admitted; that it runs is written next."""

    def start_failed(self, pod: Object) -> None:
        """That could not be written: the worker has not begun."""

    def started(self, pod: Object) -> None:
        """It runs."""

    def ended(self, pod: Object) -> None:
        """Its command runs no more; that is written next."""


class Workers:
    """Pods run until finish(); those on nodes in `dead` are left alone, as by a machine without power."""

    def __init__(self, api: Api, plugins: FakePlugins, scheduler: Scheduler | None = None,
                 observer: Observer | None = None, checks_affinity: bool = False) -> None:
        """checks_affinity: a worker is rejected on a node that has not its lease, as one that is new under its name."""
        self._api, self.plugins = api, plugins
        self.scheduler, self._observer = scheduler or Binder(api), observer or Observer()
        self._checks_affinity = checks_affinity
        self.transfers = Transfers()
        self.dead: set[str] = set()
        self.orphans: set[str] = set()  # UIDs of pods whose machine is gone: another one under its name admits them anew
        self.ignored: set[tuple[str, str]] = set()  # pods whose status a test writes itself, by namespace and name
        self.address = "192.0.2.1"  # of every worker that starts
        self.report_of = step_of_attempt  # what stands in the report file of a worker with spec.checkpoint when it ends
        self.started: list[str] = []  # names of pods in the order in which they began to run

    def step(self, pod: Object) -> None:
        """Does what is next for this pod, if anything is."""
        meta, node = pod["metadata"], pod["spec"].get("nodeName")
        if node in self.dead or (meta["namespace"], meta["name"]) in self.ignored:
            return
        if node is None:
            if not is_deleted(pod):
                self.scheduler.bind(pod)
        elif is_deleted(pod):
            self.end(pod)
        elif pod["status"].get("phase") == "Pending":
            self.start(pod)
        elif has_results(pod):
            self._save(pod)

    def start(self, pod: Object) -> bool:
        """Does what is next before the worker begins. Whether it has begun."""
        fetch = status_of(pod, SOURCE)
        if fetch is None or pod["metadata"]["uid"] in self.orphans:
            if not self._admit(pod):
                return False
            if has_source(pod):
                self._show_fetch(pod, {"running": {"startedAt": seconds_now()}}, 0)
                return False
        elif not self._fetch(pod, fetch):
            return False
        self._observer.starting(pod)
        self.started.append(pod["metadata"]["name"])
        begin = {"running": {"startedAt": seconds_now()}}
        try:
            self._write(pod, {"phase": "Running", "startTime": seconds_now(), "podIP": self.address,
                              "containerStatuses": self._statuses(pod, self._container(pod, begin), begin)})
        except (ApiError, OSError):
            self._observer.start_failed(pod)
            raise
        self._observer.started(pod)
        return True

    def _admit(self, pod: Object) -> bool:
        if slices_of(pod):
            refusal = self.plugins.admit(pod)
            if refusal:
                self._reject_before_start(pod, "UnexpectedAdmissionError", refusal)
                return False
        elif self._checks_affinity and not shares_a_node(pod) and not has_lease_of(self._api.get("nodes", pod["spec"]["nodeName"]), pod):
            self._reject_before_start(pod, "NodeAffinity", "Predicate NodeAffinity failed")
            return False
        return True

    def _fetch(self, pod: Object, status: Object) -> bool:
        """Whether its source is there."""
        state = status["state"]
        if "terminated" in state:
            if state["terminated"]["exitCode"]:
                self._write(pod, {"phase": "Failed"})
                return False
            return True
        if "running" not in state:
            if _may_restart(status):
                self._show_fetch(pod, {"running": {"startedAt": seconds_now()}}, status["restartCount"] + 1, status["lastState"])
            return False
        end = self.transfers.fetch(pod)
        if end is None:
            return False
        if end.code and is_gang(pod):
            self._show_fetch(pod, {"waiting": {"reason": "CrashLoopBackOff"}}, status["restartCount"], _ended(end))
        else:
            self._show_fetch(pod, _ended(end), status["restartCount"])
        return False

    def _show_fetch(self, pod: Object, state: Object, restarts: int, last: Object | None = None) -> None:
        shown = container_status(SOURCE, image_of(pod, SOURCE), state)
        shown.update(lastState=last or {}, restartCount=restarts)
        waits = {"waiting": {"reason": "PodInitializing"}}
        self._write(pod, {"startTime": pod["status"].get("startTime") or seconds_now(), "initContainerStatuses": [shown],
                          "containerStatuses": self._statuses(pod, self._container(pod, waits), waits)})

    def _save(self, pod: Object) -> None:
        """Does what is next for the results of a worker that runs or has ended."""
        if pod["status"].get("phase") != "Running":
            return
        worker, results = (status_of(pod, name) for name in (pod["spec"]["containers"][0]["name"], RESULTS))
        over = "terminated" in worker["state"] or bool(worker["lastState"])
        if "running" in results["state"]:
            end = self.transfers.save(pod) if _may_restart(results) and (over or not is_wanted(pod)) else None
            if end is not None:
                self._end_results(pod, worker, results, _ended(end))
        elif over and not is_gang(pod):
            failed = any(status["state"]["terminated"]["exitCode"] for status in (worker, results))
            self._observer.ended(pod)
            self._write(pod, {"phase": "Failed" if failed else "Succeeded"})

    def _end_results(self, pod: Object, worker: Object, results: Object, ended: Object) -> None:
        if is_gang(pod):  # it is started again, and holds or tries again
            again = {"running": {"startedAt": seconds_now()}}
            statuses = self._statuses(pod, worker, again, ended, results["restartCount"] + 1)
        else:
            statuses = self._statuses(pod, worker, ended)
        self._write(pod, {"containerStatuses": statuses}, pod["metadata"]["resourceVersion"])  # the worker may end now

    def end(self, pod: Object) -> None:
        """It was deleted: its container is killed, and then the pod goes."""
        self._observer.ended(pod)
        meta = pod["metadata"]
        statuses = pod["status"].get("containerStatuses", [])
        # Also of a pod that never began: that is a kubelet's word that it never will.
        if not statuses or any("terminated" not in status["state"] for status in statuses):
            self._write(pod, self._killed(pod))
        # Kubelets ask until it is gone: a server that takes our finalizer off at the same moment may keep the pod.
        if meta.get("deletionGracePeriodSeconds") != 0 or not meta.get("finalizers"):
            self._api.delete("pods", meta["name"], meta["namespace"], gracePeriodSeconds=0,
                             preconditions={"uid": meta["uid"]})

    def _killed(self, pod: Object) -> Object:
        """Its status when all its containers were told to end; gpupool-carry still puts away what it can."""
        ended = _ended(End(137))
        worker, fetch, results = (status_of(pod, name) for name in (pod["spec"]["containers"][0]["name"], SOURCE, RESULTS))
        if results and worker and "terminated" in worker["state"]:
            over = worker
        else:
            over = self._container(pod, self._stopped(pod, worker))
        state = ended
        if results and "terminated" in results["state"]:
            state = results["state"]
        elif results and "terminated" in results["lastState"]:
            state = results["lastState"]
        elif results and "running" in results["state"]:
            state = _ended(self.transfers.save(pod) or End(137))
        change = {"containerStatuses": self._statuses(pod, over, state)}
        if fetch and "running" in fetch["state"]:
            change["initContainerStatuses"] = [{**fetch, "state": ended}]
        return change

    def _stopped(self, pod: Object, worker: Any) -> Object:
        """The state of a worker's container that was told to stop. A program that saves its work has done so; another one
        is killed. The launcher of a command that had ended repeats its result."""
        last = (worker or {"lastState": {}})["lastState"].get("terminated", {})
        if last.get("message"):
            return {"terminated": {**last, "startedAt": seconds_now(), "finishedAt": seconds_now()}}
        if worker and "running" in worker["state"] and saves_its_work(pod):
            return terminated(attempt_of(pod), rank_of(pod), 0, stop_signal=signal.SIGTERM, report=self.report_of(pod))
        if worker is None or "waiting" in worker["state"]:
            return {"terminated": {"exitCode": 137, "reason": NEVER_RAN, "message": "The container could not be located"}}
        return _ended(End(137))

    def finish(self, pod: Object, code: int = 0, tail: str = "", metrics: Sequence[str] = (), stop_signal: int = 0) -> None:
        """The worker's command ends; the pod of a Job is over then, that of a StatefulSet is restarted as a holder.
        stop_signal: something on the machine had told it to stop."""
        if not is_gang(pod) and not has_results(pod):  # in a gang the launcher stays and holds the node
            self._observer.ended(pod)
        report = self.report_of(pod) if saves_its_work(pod) else ""
        ended = terminated(attempt_of(pod), rank_of(pod), code, tail, metrics, stop_signal, report)
        self._write_end(pod, ended, "Succeeded" if code == 0 else "Failed", ready=True)

    def break_off(self, pod: Object, code: int, reason: str) -> None:
        """The worker's container ends and leaves no result, as by OOM or with its node."""
        ended = {"terminated": {"exitCode": code, "reason": reason, "finishedAt": seconds_now()}}
        self._write_end(pod, ended, "Failed")

    def forget(self, pod: Object) -> None:
        """The worker of a gang has ended and was started again, and its dead container is gone: nobody knows how."""
        again = self._container(pod, {"running": {"startedAt": seconds_now()}})
        self._write(pod, {"containerStatuses": self._statuses(pod, {**again, "restartCount": 1})})

    def reject(self, pod: Object, reason: str, message: str) -> None:
        """Not admitted: nothing of it has run."""
        self._write(pod, {"phase": "Failed", "reason": reason, "message": message, "containerStatuses": None})

    def _write_end(self, pod: Object, ended: Object, phase: str, ready: bool = False) -> None:
        """phase: of a pod that is not started again."""
        status = self._container(pod, ended)
        if is_gang(pod):
            phase = "Running"
            status.update(state={"running": {"startedAt": seconds_now()}}, lastState=ended, restartCount=1)
            status["ready"] = ready
        self._write(pod, {"phase": "Running", "containerStatuses": self._statuses(pod, status)})
        if has_results(pod) and "terminated" not in (status_of(pod, RESULTS) or {"state": {}})["state"]:
            return  # the pod is over when they are put away
        if phase != "Running":  # a kubelet from 1.27 on writes it when the sandbox is gone too
            self._write(pod, {"phase": phase})

    def _reject_before_start(self, pod: Object, reason: str, why: str) -> None:
        self._write(pod, {"phase": "Failed", "reason": reason, "message": "Pod was rejected: " + why,
                          "startTime": seconds_now()})

    def _write(self, pod: Object, status: Object, version: str | None = None) -> None:
        """version: only if the pod is still this one."""
        meta = pod["metadata"]
        only = {"metadata": {"resourceVersion": version}} if version else {}
        self._api.patch("pods", meta["name"], {**only, "status": status}, meta["namespace"], "status")

    @staticmethod
    def _container(pod: Object, state: Object) -> Object:
        worker = pod["spec"]["containers"][0]
        return container_status(worker["name"], worker["image"], state)

    @staticmethod
    def _statuses(pod: Object, worker: Object, results: Object | None = None, last: Object | None = None,
                  restarts: int = 0) -> list[Object]:
        """Of the worker, and of the container for results, which stays as it is if no state of it is given."""
        if not has_results(pod):
            return [worker]
        known = status_of(pod, RESULTS)
        if results is None and known and "waiting" not in known["state"]:
            return [worker, known]
        # A watch may show a pod as it was before its containers began.
        status = container_status(RESULTS, image_of(pod, RESULTS), results or {"running": {"startedAt": seconds_now()}})
        return [worker, {**status, "lastState": last or {}, "restartCount": restarts}]


def _ended(end: End) -> Object:
    """The state of a container of gpupool-carry."""
    return {"terminated": {"exitCode": end.code, "reason": reason_of(end.code), "message": end.report,
                           "startedAt": seconds_now(), "finishedAt": seconds_now()}}


def _may_restart(status: Object) -> bool:
    """Whether what it does next is due: one that has reported only holds, and after a failure it waits."""
    last = status["lastState"].get("terminated")
    return not last or (last["exitCode"] != 0 and time.time() > unix_seconds(last["finishedAt"]) + RESTART_AFTER)


class PlayedKubelet(Workers):
    """All kubelets of a small cluster, as a thread, until close()."""

    def __init__(self, api: Api, plugins: FakePlugins, observer: Observer | None = None, poll: float = POLL) -> None:
        """poll: seconds between two looks at all pods."""
        super().__init__(api, plugins, observer=observer)
        self._poll = poll
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self._poll):
            try:
                pods = self._api.list("pods", labelSelector=JOB_UID)
                self.plugins.sync(pods)
            except (ApiError, OSError):
                continue
            for pod in pods:
                try:
                    self.step(pod)
                except (ApiError, OSError):
                    pass  # it has changed or gone: again in a moment, and the others meanwhile
