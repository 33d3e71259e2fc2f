"""Binds workers to their nodes and plays the kubelets: containers that run, end when told, and end when deleted."""

import json
import threading

from fake_binder import Binder
from fake_nodes import seconds_now
from support.api import ApiError
from support.jobs import JOB_UID

POLL = 0.1


def result(attempt, rank, code, tail=""):
    """What gpupool-launch leaves in the termination message."""
    return json.dumps({"version": 1, "attempt": attempt, "rank": rank, "outcome": "exited", "exitCode": code,
                       "reason": "Completed" if code == 0 else "Error", "message": f"exit code {code}", "tail": tail,
                       "finishedAt": seconds_now()})


class FakeKubelet:
    """Pods run until finish(); those on nodes in `dead` are left alone, as by a machine without power."""

    def __init__(self, api, plugins):
        self._api = api
        self._plugins = plugins
        self._binder = Binder(api)
        self.dead = set()
        self.started = []  # names of pods in the order in which they began to run
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self):
        self._stop.set()
        self._thread.join()

    def _run(self):
        while not self._stop.wait(POLL):
            try:
                pods = self._api.list("pods", labelSelector=JOB_UID)
                self._plugins.sync(pods)
            except (ApiError, OSError):
                continue
            for pod in pods:
                try:
                    self._step(pod)
                except (ApiError, OSError):
                    pass  # it has changed or gone: again in a moment, and the others meanwhile

    def _step(self, pod):
        node = pod["spec"].get("nodeName")
        if node in self.dead:
            return
        phase = pod["status"].get("phase")
        if node is None:
            if "deletionTimestamp" not in pod["metadata"]:
                self._binder.bind(pod)
        elif "deletionTimestamp" in pod["metadata"]:
            self._end(pod)
        elif phase == "Pending":
            self._start(pod)

    def _write(self, pod, status):
        meta = pod["metadata"]
        self._api.patch("pods", meta["name"], {"status": status}, meta["namespace"], "status")

    def _container(self, pod, state):
        worker = pod["spec"]["containers"][0]
        return {"name": worker["name"], "image": worker["image"], "imageID": "", "ready": "running" in state,
                "restartCount": 0, "state": state, "lastState": {}}

    def _start(self, pod):
        """Whether it was admitted."""
        if "gpupool.dev/slices" in pod["metadata"]["labels"]:
            refusal = self._plugins.admit(pod)
            if refusal:
                self._write(pod, {"phase": "Failed", "reason": "UnexpectedAdmissionError",
                                  "message": "Pod was rejected: " + refusal, "startTime": seconds_now()})
                return False
        self.started.append(pod["metadata"]["name"])
        running = self._container(pod, {"running": {"startedAt": seconds_now()}})
        self._write(pod, {"phase": "Running", "startTime": seconds_now(), "podIP": "192.0.2.1",
                          "containerStatuses": [running]})
        return True

    def _end(self, pod):
        meta = pod["metadata"]
        statuses = pod["status"].get("containerStatuses", [])
        # Also of a pod that never began: that is a kubelet's word that it never will.
        if not statuses or any("terminated" not in status["state"] for status in statuses):
            ended = {"terminated": {"exitCode": 137, "reason": "Error", "finishedAt": seconds_now()}}
            self._write(pod, {"containerStatuses": [self._container(pod, ended)]})
        # Kubelets ask until it is gone: a server that takes our finalizer off at the same moment may keep the pod.
        if meta.get("deletionGracePeriodSeconds") != 0 or not meta.get("finalizers"):
            self._api.delete("pods", meta["name"], meta["namespace"], gracePeriodSeconds=0,
                             preconditions={"uid": meta["uid"]})

    def finish(self, pod, code=0, tail=""):
        """The worker's command ends; the pod of a Job is over then, that of a StatefulSet is restarted as a holder."""
        name = pod["metadata"]["name"]
        gang = pod["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet"
        env = {e["name"]: e.get("value") for e in pod["spec"]["containers"][0]["env"]}
        rank = int(name.rsplit("-", 1)[1]) if gang else 0
        ended = {"terminated": {"exitCode": code, "reason": "Completed" if code == 0 else "Error",
                                "message": result(int(env["GPUPOOL_ATTEMPT"]), rank, code, tail),
                                "startedAt": seconds_now(), "finishedAt": seconds_now()}}
        status = self._container(pod, ended)
        if gang:
            status.update(state={"running": {"startedAt": seconds_now()}}, lastState=ended, restartCount=1, ready=True)
        phase = "Running" if gang else "Succeeded" if code == 0 else "Failed"
        self._write(pod, {"phase": phase, "containerStatuses": [status]})

    def break_off(self, pod, code, reason):
        """The worker's container ends and leaves no result, as by OOM or with its node."""
        gang = pod["metadata"]["ownerReferences"][0]["kind"] == "StatefulSet"
        ended = {"terminated": {"exitCode": code, "reason": reason, "finishedAt": seconds_now()}}
        status = self._container(pod, ended)
        if gang:
            status.update(state={"running": {"startedAt": seconds_now()}}, lastState=ended, restartCount=1)
        self._write(pod, {"phase": "Running" if gang else "Failed", "containerStatuses": [status]})

    def forget(self, pod):
        """The worker of a gang has ended and was started again, and its dead container is gone: nobody knows how."""
        again = self._container(pod, {"running": {"startedAt": seconds_now()}})
        self._write(pod, {"containerStatuses": [{**again, "restartCount": 1}]})

    def reject(self, pod, reason, message):
        """Not admitted: nothing of it has run."""
        self._write(pod, {"phase": "Failed", "reason": reason, "message": message, "containerStatuses": None})
