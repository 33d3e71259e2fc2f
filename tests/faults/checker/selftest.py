"""Breaks every rule once, through the API server, and sees that the checker complains; and that it does not before."""

import time

from checker import end_rules
from checker.clock import ELECTION_NAMESPACE
from checker.leadership import Leadership
from checker.lease_rules import EditsMoveNothing, TakingMoves, ValueNamesOneThing
from checker.node_rules import (HeldNodeCarriesLease, MarksNameHolder, NodeControllerUndone, OneLeasePerNode,
                                PodOnHeldNode)
from checker.outcome_rules import EndsAsItShould, RunsOnce
from checker.process import CheckerProcess
from checker.records import (EXPECTED, JOB_UID, KEEPS_NODES, LEASE_ANNOTATION, LEASE_LABEL, LEASE_TAINT, NODE_CONTROLLER,
                             POD_LEASE, POD_SLICES, POOL_TAINT)
from checker.slice_rules import GpuNotOversubscribed
from support.api import MERGE_PATCH
from support.jobs import job_manifest
from support.waiting import wait_for

NOBODY = "00000000-0000-0000-0000-000000000000"
TOO_LONG = 3 + max(rule.LIMIT for rule in (MarksNameHolder, NodeControllerUndone, TakingMoves))
PERIOD, PAUSE = 0.4, 1.5 * Leadership.RENEWED_WITHIN  # of renewals


class Forger:
    """Writes what only the operator, the scheduler and kubelets should."""

    def __init__(self, api, space):
        self.complained = lambda mark: False  # whether the checker has named it
        self.spared = []  # (rule, what it has no reason to name)
        self.api, self.space, self._names, self.nodes, self._jobs = api, space, iter(range(1000)), {}, {}

    def set_up(self):
        self.api.create("namespaces", {"metadata": {"name": self.space}})
        wait_for("the service account", lambda: self.api.find("serviceaccounts", "default", self.space))

    def tear_down(self):
        for kind in ("gpujobs", "pods"):
            for objekt in self.api.list(kind, self.space):
                self.api.patch(kind, objekt["metadata"]["name"], {"metadata": {"finalizers": None}}, self.space)
                self.api.delete(kind, objekt["metadata"]["name"], self.space, gracePeriodSeconds=0)
        for kind in ("nodes", "gpunodes"):
            for name in self.nodes:
                self.api.delete(kind, name)
        self.api.delete("leases", "self-election", ELECTION_NAMESPACE)
        self.api.delete("namespaces", self.space)

    def wait_for_complaint(self, mark):
        """Of what is wrong only after a while in which somebody leads, who does nothing but renew."""
        begin = time.monotonic()
        while not self.complained(mark) and time.monotonic() < begin + 180:
            self.renew()
            time.sleep(PERIOD)

    def pause(self):
        """Nobody leads for as long: who is paused again and again renews too seldom."""
        for _ in range(1 + int(TOO_LONG / PAUSE)):
            self.renew()
            time.sleep(PAUSE)

    def take_turns(self):
        """As long, by leaders of whom each has a part of it."""
        for turn in range(int(TOO_LONG / PERIOD)):
            self.renew(f"leader {turn // 5}")
            time.sleep(PERIOD)

    def node(self):
        """One that the node controller has nothing to say of any more: that of 1.20 writes the taints that it has in its
        cache, and so brings back what was taken off meanwhile."""
        name = f"{self.space}-n{next(self._names)}"
        complete = {"metadata": {"name": name}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        self.nodes[name] = self.api.create("nodes", complete)["metadata"]["uid"]
        wait_for("the taint of a new node to go", lambda: not self.api.get("nodes", name)["spec"].get("taints"))
        return name

    def job(self, **annotations):
        manifest = job_manifest(f"j{next(self._names)}", self.space, "none", suspend=True)
        manifest["metadata"]["annotations"] = annotations
        made = self.api.create("gpujobs", manifest)["metadata"]
        self._jobs[made["name"]] = made["uid"]
        return made["name"]

    def uid(self, job):
        return self._jobs[job]

    def status(self, job, number, state, *nodes, slices=0, workers=1, attempt=0, **status):
        lease = {"id": f"{self._jobs[job]}.{number}", "state": state, "attempt": attempt, "slices": slices or None,
                 "nodes": [{"name": n, "uid": self.nodes[n], "workers": workers} for n in nodes]}
        self.api.patch("gpujobs", job, {"status": {"phase": "Running", **status, "lease": lease if state else None}},
                       self.space, "status")

    def mark(self, node, job, number=1, key=LEASE_TAINT):
        value = f"{self._jobs.get(job, NOBODY)}.{number}"
        marks = {"labels": {LEASE_LABEL: value}, "annotations": {LEASE_ANNOTATION: f"{self.space}/{job}"}}
        taints = [{"key": key, "value": value, "effect": "NoSchedule"}]
        self.api.patch("nodes", node, {"metadata": marks if key == LEASE_TAINT else {}, "spec": {"taints": taints}})

    def unmark(self, node):
        self.api.patch("nodes", node, {"metadata": {"labels": {LEASE_LABEL: None}, "annotations": {LEASE_ANNOTATION: None}},
                                       "spec": {"taints": None}})

    def undo(self, node, value=None):
        """As the node controller of 1.20: this, or nothing, is the lease taint that its cache has."""
        taints = [{"key": LEASE_TAINT, "value": value, "effect": "NoSchedule"}] if value else None
        url = self.api.url("nodes", name=node, fieldManager=NODE_CONTROLLER)
        self.api.call("PATCH", url, {"spec": {"taints": taints}}, MERGE_PATCH)

    def hold(self, *nodes, **annotations):
        """A job that holds these nodes as it should."""
        job = self.job(**annotations)
        self.status(job, 1, "Taking", *nodes)
        for node in nodes:
            self.mark(node, job)
        self.status(job, 1, "Held", *nodes)
        return job

    def gpus(self, node, *used):
        """GPUs of ten slices each."""
        ours = {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuNode", "metadata": {"name": node}}
        self.api.create("gpunodes", ours)
        gpus = [{"uuid": f"GPU-{node}-{i}", "index": i, "model": "M", "memoryMiB": 1, "health": "Healthy",
                 "resourceName": "gpupool.dev/vgpu", "slices": {"total": 10, "free": 0, "memoryMiB": 1, "cores": 10},
                 "pods": [{"namespace": self.space, "name": "p", "slices": slices}]} for i, slices in enumerate(used)]
        self.api.patch("gpunodes", node, {"status": {"gpus": gpus}}, sub="status")

    def pod(self, job, node, number=1, running=True, slices=0):
        """A worker; its attempt is 0 and its rank 0."""
        name = f"p{next(self._names)}"
        labels = {JOB_UID: self._jobs[job], POD_LEASE: f"{self._jobs[job]}.{number}"}
        spec = {"nodeName": node, "containers": [{"name": "w", "image": "i", "env": [{"name": "GPUPOOL_ATTEMPT", "value": "0"}]}]}
        self.api.create("pods", {"metadata": {"name": name, "namespace": self.space, "labels":
                                              {**labels, **({POD_SLICES: str(slices)} if slices else {})}}, "spec": spec})
        if running:
            self.pod_state(name, "Running", {"running": {}})
        return name

    def pod_state(self, name, phase, state):
        status = {"name": "w", "image": "i", "imageID": "", "ready": True, "restartCount": 0, "lastState": {}, "state": state}
        self.api.patch("pods", name, {"status": {"phase": phase, "containerStatuses": [status]}}, self.space, "status")

    def leave(self, pod, grace=0):
        """It is deleted, and our finalizer keeps the object. With grace 0: its kubelet has seen the end of it."""
        self.api.patch("pods", pod, {"metadata": {"finalizers": ["gpupool.dev/worker"]}}, self.space)
        self.api.delete("pods", pod, self.space, gracePeriodSeconds=grace)

    def renew(self, holder="me"):
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                 "metadata": {"name": "self-election", "namespace": ELECTION_NAMESPACE}}
        if not self.api.find("leases", "self-election", ELECTION_NAMESPACE):
            self.api.create("leases", lease)
        moment = int(10 * time.monotonic()) % 1_000_000
        spec = {"holderIdentity": holder, "renewTime": f"2020-01-01T00:00:00.{moment:06d}Z"}
        self.api.patch("leases", "self-election", {"spec": spec}, ELECTION_NAMESPACE)


def lawful(forger):
    """The life of a job as it should be, beside a node controller that writes what it has in its cache. What waits for a
    leader waits for as long as nobody leads."""
    a, b, gone = forger.node(), forger.node(), forger.node()
    forger.api.delete("gpujobs", forger.hold(gone), forger.space)
    taking = forger.job()
    forger.status(taking, 1, "Taking", gone)
    job = forger.hold(a, b, **{EXPECTED: "Succeeded/Completed/0"})
    forger.undo(a)
    forger.pause()
    forger.take_turns()
    forger.unmark(gone)
    forger.api.delete("gpujobs", taking, forger.space)
    forger.mark(a, job)
    pod, idle = forger.pod(job, a), forger.pod(job, b, running=False)
    forger.status(job, 1, "Running", a, b)
    forger.pod_state(pod, "Succeeded", {"terminated": {"exitCode": 0}})
    forger.status(job, 1, "Releasing", a, b)
    forger.leave(idle)
    forger.unmark(a)
    forger.unmark(b)
    forger.undo(b, f"{forger.uid(job)}.1")
    forger.unmark(b)
    done = {"type": "Complete", "status": "True", "reason": "Completed", "message": "all is well"}
    forger.status(job, 1, "", phase="Succeeded", reason="Completed", message="all is well", conditions=[done])


def two_jobs_have_a_node(forger):
    node = forger.node()
    forger.hold(node)
    forger.status(forger.job(), 1, "Held", node)
    return node


def a_held_node_carries_nothing(forger):
    node = forger.node()
    forger.hold(node)
    forger.unmark(node)
    return node


def a_taint_names_nobody(forger):
    node = forger.node()
    forger.mark(node, "nobody")
    return node


def a_taint_outlives_the_lease(forger):
    node = forger.node()
    forger.status(forger.hold(node), 1, "")
    return node


def a_taint_outlives_a_job_that_vanished(forger):
    """Longer than the checker is patient with."""
    node = forger.node()
    job = forger.hold(node)
    forger.api.delete("gpujobs", job, forger.space)
    forger.wait_for_complaint(node)
    return node


def the_node_controller_takes_a_taint_off(forger):
    """Also off a node that is given back, where nobody puts it on again."""
    node, released = forger.node(), forger.node()
    forger.hold(node)
    forger.status(forger.hold(released), 1, "Releasing", released)
    forger.undo(released)
    forger.undo(node)
    forger.wait_for_complaint(node)
    forger.spared.append((NodeControllerUndone.name, released))
    return node


def the_node_controller_takes_a_taint_off_one_that_runs(forger):
    """Nobody leads for a while, and then somebody does."""
    node = forger.node()
    forger.status(forger.hold(node), 1, "Running", node)
    forger.undo(node)
    forger.pause()
    forger.wait_for_complaint(node)
    return node


def the_node_controller_brings_a_taint_back(forger):
    node = forger.node()
    forger.undo(node, f"{NOBODY}.1")
    forger.wait_for_complaint(node)
    return node


def a_taint_of_no_pool(forger):
    node = forger.node()
    forger.mark(node, "nobody", key=POOL_TAINT)
    return node


def a_pod_on_a_foreign_node(forger):
    mine, others = forger.node(), forger.node()
    forger.hold(others)
    forger.pod(forger.hold(mine), others)
    return others


def a_pod_on_a_free_node(forger):
    mine, free = forger.node(), forger.node()
    forger.pod(forger.hold(mine), free)
    return free


def a_pod_that_runs_is_deleted_by_force(forger):
    """Its kubelet has not seen the end of it."""
    node = forger.node()
    forger.leave(forger.pod(forger.hold(node), node))
    forger.unmark(node)
    return node


def a_pod_that_may_begin_yet(forger):
    node = forger.node()
    forger.leave(forger.pod(forger.hold(node), node, running=False), grace=30)
    forger.unmark(node)
    return node


def too_many_slices_reserved(forger):
    node = forger.node()
    forger.gpus(node, 0, 0)  # three times six do not fit on two GPUs of ten, though they are fewer than twenty
    for workers in (1, 2):
        forger.status(forger.job(), 1, "Held", node, slices=6, workers=workers)
    return node


def too_many_slices_run(forger):
    node = forger.node()
    forger.gpus(node, 0)
    job = forger.job()
    forger.status(job, 1, "Held", node, slices=6)
    for _ in range(2):
        forger.pod(job, node, slices=6)
    return node


def too_many_slices_reported(forger):
    node = forger.node()
    forger.gpus(node, 11)
    return node


def a_value_moves(forger):
    node, job = forger.node(), forger.hold(forger.node())
    forger.status(job, 1, "Restarting", node)
    return forger.uid(job)


def a_value_counts_for_two_attempts(forger):
    node = forger.node()
    job = forger.hold(node)
    forger.status(job, 1, "Held", node, attempt=1)
    return forger.uid(job)


def a_number_falls(forger):
    node, job = forger.node(), forger.job()
    forger.status(job, 2, "Taking", node)
    forger.status(job, 1, "Releasing", node)
    return forger.uid(job)


def nobody_takes_on(forger):
    job = forger.job()
    forger.status(job, 1, "Taking", forger.node())
    forger.wait_for_complaint(job)
    return job


def an_edit_moves_a_job(forger):
    first, second = forger.node(), forger.node()
    job = forger.hold(first, **{KEEPS_NODES: "yes"})
    forger.status(job, 1, "Running", first)
    forger.status(job, 2, "Restarting", second)
    return job


def an_edit_ends_a_job(forger):
    node = forger.node()
    job = forger.hold(node, **{KEEPS_NODES: "yes"})
    forger.status(job, 1, "Running", node)
    forger.status(job, 1, "Releasing", node, phase="Releasing", reason="SpecChanged", message="it was edited")
    return job


def a_rank_runs_twice(forger):
    node = forger.node()
    job = forger.hold(node)
    forger.pod(job, node)
    return forger.pod(job, node)


def a_success_fails(forger):
    job = forger.job(**{EXPECTED: "Succeeded/Completed"})
    done = {"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "no"}
    forger.status(job, 1, "", phase="Failed", reason="BackoffLimitExceeded", message="no", conditions=[done])
    return job


def an_innocent_is_charged(forger):
    job = forger.job(**{EXPECTED: "Succeeded/Completed/0"})
    done = {"type": "Complete", "status": "True", "reason": "Completed", "message": "yes"}
    forger.status(job, 1, "", phase="Succeeded", reason="Completed", message="yes", failures=1, conditions=[done])
    return job


def an_end_says_nothing(forger):
    job = forger.job()
    forger.status(job, 1, "", phase="Succeeded", reason="Completed")
    return job


def a_job_says_nothing(forger):
    return forger.job()


def a_finalizer_stays(forger):
    pod = forger.pod(forger.hold(forger.node()), forger.node(), running=False)
    forger.api.patch("pods", pod, {"metadata": {"finalizers": ["gpupool.dev/worker"]}}, forger.space)
    return pod


BROKEN = {
    OneLeasePerNode.name: [two_jobs_have_a_node],
    HeldNodeCarriesLease.name: [a_held_node_carries_nothing],
    MarksNameHolder.name: [a_taint_names_nobody, a_taint_outlives_the_lease, a_taint_of_no_pool,
                           a_taint_outlives_a_job_that_vanished],
    NodeControllerUndone.name: [the_node_controller_takes_a_taint_off,
                                the_node_controller_takes_a_taint_off_one_that_runs,
                                the_node_controller_brings_a_taint_back],
    PodOnHeldNode.name: [a_pod_on_a_foreign_node, a_pod_on_a_free_node, a_pod_that_runs_is_deleted_by_force,
                         a_pod_that_may_begin_yet],
    GpuNotOversubscribed.name: [too_many_slices_reserved, too_many_slices_run, too_many_slices_reported],
    ValueNamesOneThing.name: [a_value_moves, a_value_counts_for_two_attempts, a_number_falls],
    TakingMoves.name: [nobody_takes_on],
    EditsMoveNothing.name: [an_edit_moves_a_job, an_edit_ends_a_job],
    RunsOnce.name: [a_rank_runs_twice],
    EndsAsItShould.name: [a_success_fails, an_innocent_is_charged, an_end_says_nothing],
    end_rules.EXPLAINED: [a_job_says_nothing],
    end_rules.NOTHING_LEFT: [a_finalizer_stays, a_taint_names_nobody],
}


def self_test(lab, report):
    """No operator may run meanwhile: it would clean up."""
    forger, checker = Forger(lab.api, lab.new_name()), CheckerProcess(lab.kubeconfig)

    def named(mark, rule=None):
        return any(mark in c["what"] and rule in (None, c["rule"]) for c in checker.complaints)

    forger.set_up()
    try:
        with checker:
            forger.complained = named
            lawful(forger)
            checker.ask("explained")
            problems = [f"complained of a job that kept all rules: {checker.show()}"] if checker.complaints else []
            marks = [(rule, breach.__name__, breach(forger)) for rule, found in BROKEN.items() for breach in found]
            checker.ask("explained")
            checker.ask("empty")
        problems += [f"no rule was broken for {rule}" for rule in checker.checked if rule not in BROKEN]
        problems += [f"did not complain: {breach}" for rule, breach, mark in marks if not named(mark, rule)]
        problems += [f"complained of {mark}, and of nothing wrong: {rule}" for rule, mark in forger.spared
                     if named(mark, rule)]
    finally:
        forger.tear_down()
    report.passed("kinds of violations shown to the checker, which saw them", len(marks))
    if problems:
        report.failed("--checker", "\n".join([*problems, checker.show()]))
