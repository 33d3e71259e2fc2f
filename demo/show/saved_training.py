# SPDX-License-Identifier: Apache-2.0
"""The training of examples/checkpoint.yaml, and the volume of its checkpoints, which all nodes see."""

import json
import os
import re
import time

import yaml

from demo.show import demo_cluster
from demo.show.errors import DemoError
from demo.show.kubectl import Kubectl
from tests.kit.paths import EXAMPLES
from tests.kit.undisturbed import DIGEST, Undisturbed

EXAMPLE, CLAIM, RANKS = "checkpoint", "checkpoints", 2
FIRST_STEP = 100  # it has something to lose then
TIMEOUT = 240


def make_volume(kubectl: Kubectl, namespace: str) -> None:
    """That the claim of the example asks for."""
    spec = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "", "claimRef": {"namespace": namespace, "name": CLAIM},
            "hostPath": {"path": demo_cluster.SHARED, "type": "DirectoryOrCreate"}}
    kubectl.apply_text(json.dumps({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": CLAIM},
                                   "spec": spec}))


def submit(kubectl: Kubectl, namespace: str, name: str) -> None:
    """The example under this name."""
    claim, job = yaml.safe_load_all((EXAMPLES / f"{EXAMPLE}.yaml").read_text(encoding="utf-8"))
    for item in (claim, job):
        item["metadata"]["namespace"] = namespace
    job["metadata"]["name"] = name
    kubectl.run("create", "configmap", EXAMPLE, "-n", namespace, f"--from-file={EXAMPLES / EXAMPLE}")
    kubectl.apply_text(yaml.safe_dump_all([claim, job]))


def undisturbed() -> Undisturbed:
    """The same program on this machine, without pauses."""
    return Undisturbed(os.path.join(demo_cluster.SHARED, "undisturbed"), RANKS)


def saved_step(name: str) -> int:
    """The newest step that the job has saved."""
    found = os.listdir(demo_cluster.SHARED) if os.path.isdir(demo_cluster.SHARED) else []
    folders = [folder for folder in found if folder.startswith(name + "-")]
    names = [each for folder in folders for each in os.listdir(os.path.join(demo_cluster.SHARED, folder))]
    return max((int(each[5:]) for each in names if re.fullmatch(r"step-\d+", each)), default=0)


def wait_saved(name: str) -> None:
    end = time.monotonic() + TIMEOUT
    while saved_step(name) < FIRST_STEP:
        if time.monotonic() > end:
            raise DemoError(f"step {FIRST_STEP} was not saved within {TIMEOUT} s")
        time.sleep(0.1)


def events_of(kubectl: Kubectl, namespace: str, name: str) -> str:
    return kubectl.run("get", "events", "-n", namespace, "--field-selector", f"involvedObject.name={name}",
                       "--sort-by=.lastTimestamp", "-o", "custom-columns=EVENT:.reason,MESSAGE:.message").rstrip()


def compare(message: str, other: Undisturbed) -> list[str]:
    """message: of the job. Prints its final weights and those of the undisturbed run; returns what is not as promised."""
    digests, wanted = set(DIGEST.findall(message)), other.digests()
    print(f"\nfinal weights: {', '.join(digests)}\nundisturbed:   {', '.join(wanted)}")
    return [] if len(wanted) == 1 and digests == wanted else ["the weights are not those of an undisturbed run"]
