# SPDX-License-Identifier: Apache-2.0
"""kubectl gpupool through a real kubectl, as a renter of the test's namespace."""

import json
import os
import subprocess
import tempfile

from tests.kit import deploy
from tests.kit.kubectl import apply_objects
from tests.kit.paths import kubectl_program, program
from tests.kit.played.case import FakeClusterCase

RBAC = "rbac.authorization.k8s.io"
USER = "renter"


class CliCase(FakeClusterCase):
    def setUp(self):
        super().setUp()
        apply_objects(self.lab.kubeconfig, deploy.objects("users"))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.symlink(program("kubectl-gpupool"), os.path.join(self.folder, "kubectl-gpupool"))
        os.symlink(program("kubectl-gpupool"), os.path.join(self.folder, "kubectl_complete-gpupool"))
        os.symlink(kubectl_program(), os.path.join(self.folder, "kubectl"))
        self.kubeconfig = os.path.join(self.folder, "config")
        self.act_as(USER)
        self.bind("rolebindings", "gpupool-renter")
        self.bind("clusterrolebindings", "gpupool-pool-viewer")

    def bind(self, kind, role):
        path = f"/apis/{RBAC}/v1" + (f"/namespaces/{self.namespace}" if kind == "rolebindings" else "") + "/" + kind
        name = f"cli-{self.namespace}-{role}"
        self.api.call("POST", path, {
            "metadata": {"name": name}, "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "User", "name": USER, "apiGroup": RBAC}]})
        if kind == "clusterrolebindings":
            self.addCleanup(self.api.call, "DELETE", f"{path}/{name}")

    def act_as(self, user):
        """None: the administrator."""
        config = json.loads(json.dumps(self.api.config))
        if user:
            config["users"][0]["user"]["as"] = user
        config["contexts"][0]["context"]["namespace"] = self.namespace
        with open(self.kubeconfig, "w", encoding="utf-8") as target:
            json.dump(config, target)

    def start(self, *words, stdin=None):
        """`kubectl gpupool` as a process; its streams are pipes."""
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}", "KUBECONFIG": self.kubeconfig}
        return subprocess.Popen(["kubectl", "gpupool", *words], stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=environment)

    def ask(self, *words, text=None):
        """(exit code, output, complaints)."""
        with self.start(*words, stdin=subprocess.PIPE if text else None) as process:
            out, err = process.communicate(text, timeout=120)
            return process.returncode, out, err

    def tell(self, *words, text=None):
        """The output of a command that must succeed."""
        code, out, err = self.ask(*words, text=text)
        self.assertEqual(0, code, f"{words}: {out}{err}")
        return out
