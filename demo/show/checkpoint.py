# SPDX-License-Identifier: Apache-2.0
"""`make demo PART=checkpoint`: a node is drained under a training of two workers, which goes on from its checkpoint elsewhere."""

import json
import os
import re
import socket
import subprocess
import sys
import time

from demo.show import demo_cluster
from demo.show.errors import DemoError
from demo.show.follow import follow, has_succeeded
from demo.show.kubectl import Kubectl
from tests.kit.api import Object
from tests.kit.paths import EXAMPLES

JOB, CLAIM, RANKS = "checkpoint", "checkpoints", 2
FIRST_STEP = 100  # it has something to lose then
TIMEOUT = 240
DIGEST = re.compile(r"final weights SHA256=([0-9a-f]{64})")


def prepare(kubectl: Kubectl) -> None:
    """The volume that the claim of the example asks for."""
    kubectl.apply_text(json.dumps({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": CLAIM}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain",
        "storageClassName": "", "claimRef": {"namespace": "default", "name": CLAIM},
        "hostPath": {"path": demo_cluster.SHARED, "type": "DirectoryOrCreate"}}}))


def run(kubectl: Kubectl) -> list[str]:
    """Prints how it goes; returns what did not come as promised."""
    kubectl.run("create", "configmap", JOB, "-n", "default", f"--from-file={EXAMPLES / JOB}")
    kubectl.apply(str(EXAMPLES / f"{JOB}.yaml"))
    undisturbed = _start_undisturbed()
    status = follow(kubectl, JOB, lambda s: s.get("phase") == "Running", TIMEOUT)
    _wait_saved()
    left = status["lease"]["nodes"][0]["name"]
    print(f"\nstep {_saved_step()} is saved; kubectl annotate node {left} gpupool.dev/drain=", flush=True)
    kubectl.run("annotate", "node", left, "gpupool.dev/drain=")
    follow(kubectl, JOB, lambda s: s.get("attempts") == 2 and s.get("phase") == "Running", TIMEOUT)
    print(kubectl.run("get", "gjob", JOB, "-n", "default").rstrip())
    kubectl.run("annotate", "node", left, "gpupool.dev/drain-")
    status = follow(kubectl, JOB, has_succeeded, TIMEOUT)
    print("\n" + kubectl.run("get", "events", "-n", "default", "--field-selector", f"involvedObject.name={JOB}",
                             "--sort-by=.lastTimestamp", "-o", "custom-columns=EVENT:.reason,MESSAGE:.message").rstrip())
    return _problems(status, left, _digests_of(undisturbed))


def _start_undisturbed() -> list[subprocess.Popen]:
    """The same program on this machine, without pauses, and nobody interrupts it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    folder = os.path.join(demo_cluster.SHARED, "undisturbed")
    environment = {**os.environ, "STEP_SECONDS": "0", "WORLD_SIZE": str(RANKS), "MASTER_ADDR": "127.0.0.1",
                   "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1",
                   "GPUPOOL_CHECKPOINT_DIR": folder, "PYTHONDONTWRITEBYTECODE": "1"}
    return [subprocess.Popen([sys.executable, EXAMPLES / JOB / "train.py"], stdout=subprocess.PIPE, text=True,
                             env={**environment, "RANK": str(rank)}) for rank in range(RANKS)]


def _digests_of(programs: list[subprocess.Popen]) -> set[str]:
    return set(DIGEST.findall("".join(program.communicate(timeout=TIMEOUT)[0] for program in programs)))


def _saved_step() -> int:
    """The newest step that the job has saved."""
    folders = [name for name in os.listdir(demo_cluster.SHARED) if name.startswith(JOB + "-")]
    names = [name for folder in folders for name in os.listdir(os.path.join(demo_cluster.SHARED, folder))]
    return max((int(name[5:]) for name in names if re.fullmatch(r"step-\d+", name)), default=0)


def _wait_saved() -> None:
    end = time.monotonic() + TIMEOUT
    while _saved_step() < FIRST_STEP:
        if time.monotonic() > end:
            raise DemoError(f"step {FIRST_STEP} was not saved within {TIMEOUT} s")
        time.sleep(0.1)


def _problems(status: Object, left: str, wanted: set[str]) -> list[str]:
    problems, ends = [], status.get("history") or [{}]
    if (ends[0].get("cause"), ends[0].get("left"), status["attempts"], status.get("failures", 0)) != ("Draining", left, 2, 0):
        problems.append(f"the job did not move off {left}: {json.dumps(status)}")
    if ends[0].get("fromStep", 0) < FIRST_STEP:
        problems.append(f"the job did not go on from step {FIRST_STEP} or a later one: {json.dumps(ends)}")
    digests = set(DIGEST.findall(status["message"]))
    print(f"\nfinal weights: {', '.join(digests)}\nundisturbed:   {', '.join(wanted)}")
    if len(wanted) != 1 or digests != wanted:
        problems.append("the weights are not those of an undisturbed run")
    return problems
