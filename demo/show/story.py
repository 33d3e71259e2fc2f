# SPDX-License-Identifier: Apache-2.0
"""Runs the demo from beginning to end."""

import os
import signal
import time
from typing import Any

from demo.show import billing, chart, checkpoint, data, demo_cluster, leftovers, page, promises, queue, search, slices
from demo.show.answers import BusiestTop, WhyOfWaiting
from demo.show.errors import DemoError
from demo.show.kubectl import Kubectl
from demo.show.operator import Operator, stop_kept
from demo.show.picture import Picture
from demo.show.screen import Screen
from demo.show.training import COMMAND, JOB, RANKS, Training
from demo.show.watch import Watch
from tests.kit.api import Object
from tests.kit.kubectl import wait_established
from tests.kit.names import POOL_LABEL
from tests.kit.paths import CRDS, EXAMPLES, ROOT, program

JOBS_TIMEOUT = 480  # a busy machine takes four minutes


PARTS = {"data": data, "checkpoint": checkpoint, "queue": queue, "slices": slices, "billing": billing}


def run(keep: bool, part: str = "") -> int:
    """part: of PARTS, or empty for the examples. Exit code: 0 if everything came as promised."""
    _check_machine()
    begin, operator, done = time.monotonic(), None, False
    demo_cluster.check_absent()
    try:
        _title("A Kubernetes: three nodes with one simulated GPU, one with two that are cut into ten slices each, one with two")
        environment = demo_cluster.up(keep, slices.ENFORCE if part == "slices" else "")
        kubectl = Kubectl(environment)
        demo_cluster.load_launcher()
        _title("gpupool: its resource definitions, a pool of three nodes, one of slices, one of single GPUs, the operator")
        _install(kubectl)
        operator = Operator(environment, keep, ["--ledger"] if part == "billing" else [])
        operator.start()
        port = operator.wait_ready()
        print(f"operator: process {operator.pid}, log {operator.log_path}, http://127.0.0.1:{port}/metrics")
        problems = _show_part(kubectl, part) if part else _show_examples(kubectl, operator)
        print(f"\n{time.monotonic() - begin:.0f} s from start to end")
        done = not problems
    except DemoError as error:
        print(f"\ndemo: {error}")
    finally:
        _end(operator, keep and done, done)
    return 0 if done else 1


def _show_part(kubectl: Kubectl, part: str) -> list[str]:
    PARTS[part].prepare(kubectl)
    _title((PARTS[part].__doc__ or "").partition(": ")[2])
    problems = PARTS[part].run(kubectl)
    for problem in problems:
        print(f"NOT AS PROMISED: {problem}")
    return problems


def _show_examples(kubectl: Kubectl, operator: Operator) -> list[str]:
    _title("Every example; too-large is meant to wait for ever")
    training, top, why = Training(kubectl), BusiestTop(kubectl), WhyOfWaiting(kubectl, JOB)
    try:
        jobs = _run_jobs(kubectl, operator, training, top, why)
        _title("A sweep: sixteen jobs, five at a time, look for the least value of a function")
        return _report(kubectl, operator, jobs, training, top, why, search.run(kubectl))
    finally:
        training.stop()


def remove() -> None:
    """Takes down what KEEP=1 left."""
    page.stop_kept(demo_cluster.folder())
    stop_kept(demo_cluster.folder())
    demo_cluster.down()


def _check_machine() -> None:
    if os.geteuid() != 0:
        raise DemoError("a cluster needs root: namespaces, mounts and cgroups")
    for name in ("gpupool-operator", "gpupool-launch", "gpupool-device-plugin", "gpupool-carry", "gpupool-ledger", "kubectl-gpupool"):
        if not os.access(program(name), os.X_OK):
            raise DemoError(f"{program(name)} is missing; `make build` makes it")


def _title(text: str) -> None:
    print(f"\n== {text}", flush=True)


def _install(kubectl: Kubectl) -> None:
    # Servers before 1.25 do not know validation rules; their kubectl refuses the word.
    old = ["--validate=false"] if kubectl.server_minor() < 25 else []
    kubectl.apply(CRDS, *old)
    wait_established(kubectl.run)
    for example, (pool, nodes) in demo_cluster.POOLS.items():
        kubectl.run("label", "nodes", *nodes, "--overwrite", f"{POOL_LABEL}={pool}")
        kubectl.apply(os.path.join(EXAMPLES, example))


def _run_jobs(kubectl: Kubectl, operator: Operator, training: Training, top: BusiestTop, why: WhyOfWaiting) -> Any:
    """Applies the jobs and shows them until each has come to its end."""
    jobs, nodes = Watch(kubectl, "gpujobs"), Watch(kubectl, "gpunodes")
    names = [promise.job for promise in promises.PROMISES]
    screen, picture = Screen(names), Picture(names)

    def look(seconds: float) -> None:
        jobs.wait(seconds)
        nodes.wait(0.001)
        if news := operator.restart_if_dead():
            screen.say(news)
        training.look_at(jobs.objects)
        why.look_at(jobs.objects)
        top.look_at(nodes.objects.values())
        screen.show(jobs.objects, picture.draw(nodes.objects.values()))

    try:
        for file in dict.fromkeys(promise.file for promise in promises.PROMISES):
            kubectl.apply(os.path.join(EXAMPLES, file))
            look(0.01)
        end = time.monotonic() + JOBS_TIMEOUT
        while not _all_settled(jobs.objects):
            if time.monotonic() > end:
                late = [p.job for p in promises.PROMISES if not promises.settled(p, jobs.objects.get(p.job))]
                raise DemoError(f"not at their end after {JOBS_TIMEOUT} s: {', '.join(late)}; the end of the "
                                f"operator's log:\n{operator.log_end()}")
            look(0.2)
        return jobs.objects
    finally:
        jobs.stop()
        nodes.stop()


def _all_settled(jobs: dict[str, Object]) -> bool:
    return all(promises.settled(promise, jobs.get(promise.job)) for promise in promises.PROMISES)


def _report(kubectl: Kubectl, operator: Operator, jobs: dict[str, Object], training: Training,
            top: BusiestTop, why: WhyOfWaiting, problems: list[str]) -> list[str]:
    """Prints what came of it; returns what did not come as promised. problems: those that are known before."""
    _title(f"kubectl {' '.join(top.answer.command)}, when most GPUs were in use")
    print(top.answer.text())
    _title(f"kubectl {' '.join(why.answer.command)}, while it waited")
    print(why.answer.text())
    for table in (["get", "gnode"], ["get", "gpool"], ["get", "gjob", "-o", "wide"]):
        _title("kubectl " + " ".join(table))
        print(kubectl.run(*table).rstrip())
    problems += [text for promise in promises.PROMISES if (text := promises.broken(promise, jobs[promise.job]))]
    problems += _report_training(*training.finish())
    _title("What is left on the nodes")
    try:
        nodes = leftovers.wait_for_none(kubectl)
        print(f"nodes {', '.join(nodes)}: no taint, label or annotation of a lease")
        print("all namespaces: nothing of a job that runs, or that would start anything")
        print("kubectl logs job/single-gpu-1, after its end:")
        print(kubectl.run("logs", "--tail=2", "job/single-gpu-1").rstrip())
    except DemoError as error:
        problems.append(str(error))
    _title("As promised" if not problems else "NOT as promised")
    for problem in problems:
        print(problem)
    if not problems:
        print(f"all {len(promises.PROMISES)} jobs and the sweep ended, or wait, as their examples promise")
    if operator.restarts:
        print(f"the operator died and was started again {operator.restarts} times meanwhile")
    return problems


def _report_training(lines: list[str], losses: list[float], weights: dict[int, str]) -> Any:
    _title(f"kubectl {' '.join(COMMAND)}, while it trained on three nodes")
    print("\n".join([*lines[:3], "...", *lines[-6:]] if len(lines) > 9 else lines))
    if len(losses) < 2:
        return ["ddp-pytorch: the log of rank 0 shows no losses"]
    print(chart.draw(losses, "mean squared error over all ranks"))
    problems = [] if losses[-1] < losses[0] else ["ddp-pytorch: the loss did not fall"]
    for rank, digest in weights.items():
        print(f"rank {rank}: final weights {digest[:16]}...")
    if len(weights) < RANKS:
        problems.append(f"ddp-pytorch: {RANKS - len(weights)} ranks did not tell their final weights")
    elif len(set(weights.values())) > 1:
        problems.append("ddp-pytorch: the ranks ended with different weights")
    return problems


def _end(operator: Operator | None, keep: bool, done: bool) -> None:
    if keep and operator:
        print(f"""
The cluster and the operator (process {operator.pid}) stay up. In a shell of this machine:

  cd {ROOT}
  eval "$(tests/cluster/cluster env {demo_cluster.NAME})"
  $KUBECTL get gnode,gpool,gjob
  $KUBECTL describe gjob crash-exhausts
  $KUBECTL apply -f examples/single-gpu.yaml

The operator's log is {operator.log_path}. To remove everything:

  demo/run down

The same in a browser of this machine, with the rights of the cluster's administrator:

  {page.start(demo_cluster.environment())}""")
        return
    # A second Ctrl-C must not stop the cleaning up.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if operator:
        if not done and (path := operator.save_log()):
            print(f"the operator's log is kept in {path}")
        operator.stop()
    print("taking everything down", flush=True)
    demo_cluster.down()
