# SPDX-License-Identifier: Apache-2.0
"""Jobs with spec.checkpoint, and a volume that all nodes of the cluster see."""

import os
import re
import shutil

import yaml

from tests.e2e.node_case import NODES, NodeCase
from tests.kit.kubectl import kubectl
from tests.kit.paths import EXAMPLES
from tests.kit.waiting import wait_for

DRAIN = "gpupool.dev/drain"  # annotation of a node
CLAIM = "checkpoints"
DIGEST = re.compile(r"rank (\d) final weights SHA256=([0-9a-f]{64})")


class CheckpointCase(NodeCase):
    def setUp(self):
        super().setUp()
        # Each node has file systems of its own, but /dev is the machine's.
        self.volume = f"/dev/shm/gpupool-{self.namespace}-{os.getpid()}"
        self.addCleanup(shutil.rmtree, self.volume, ignore_errors=True)
        self.addCleanup(self.end_drains)

    def end_drains(self):
        for node in NODES:
            kubectl(self.lab.kubeconfig, "annotate", "node", node, DRAIN + "-")

    def make_claim(self):
        name = os.path.basename(self.volume)
        self.api.create("persistentvolumes", {"metadata": {"name": name}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "", "claimRef": {"namespace": self.namespace, "name": CLAIM},
            "hostPath": {"path": self.volume, "type": "DirectoryOrCreate"}}})
        self.addCleanup(self.api.delete, "persistentvolumes", name)
        claim, _ = self.example()
        self.api.create("persistentvolumeclaims", claim)
        wait_for("the claim to be bound", lambda: self.api.get("persistentvolumeclaims", CLAIM, self.namespace)["status"][
            "phase"] == "Bound")

    def example(self):
        """Claim and job of examples/checkpoint.yaml, in the namespace of this test."""
        objects = list(yaml.safe_load_all((EXAMPLES / "checkpoint.yaml").read_text(encoding="utf-8")))
        for item in objects:
            item["metadata"]["namespace"] = self.namespace
        return objects

    def make_program(self):
        """The ConfigMap that the comment of the example makes."""
        folder = EXAMPLES / "checkpoint"
        self.api.create("configmaps", {"metadata": {"name": "checkpoint", "namespace": self.namespace}, "data": {
            name: (folder / name).read_text(encoding="utf-8") for name in ("train.py", "gpupool_checkpoint.py")}})

    def start_example(self, name):
        _, manifest = self.example()
        manifest["metadata"]["name"] = name
        return self.submit_manifest(manifest)

    def digest(self, pods):
        """Of the final weights, which both ranks must agree on. pods: a PodWatch of the example."""
        found = dict(DIGEST.findall("\n".join(pods.tails(2).values())))
        self.assertEqual((2, 1), (len(found), len(set(found.values()))), found)
        return found["0"]

    def folder_of(self, job):
        return os.path.join(self.volume, f"{job.name}-{job.read()['metadata']['uid'][:8]}")

    def step_on_disk(self, job):
        """The newest step that its program has saved; 0 if none."""
        folder = self.folder_of(job)
        names = os.listdir(folder) if os.path.isdir(folder) else []
        return max((int(name[5:]) for name in names if re.fullmatch(r"step-\d+", name)), default=0)

    def wait_step_above(self, job, step):
        """The program has saved a step after this one, in an attempt that runs."""
        wait_for(f"a step above {step}", lambda: self.step_on_disk(job) > step,
                 detail=lambda: f"step {self.step_on_disk(job)}\n{job.show()}")

    def drain(self, node, deadline=""):
        kubectl(self.lab.kubeconfig, "annotate", "node", node, f"{DRAIN}={deadline}")

    @staticmethod
    def step_told(status):
        """That of status.checkpoint; 0 if there is none."""
        return status.get("checkpoint", {}).get("step", 0)
