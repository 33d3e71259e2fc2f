# SPDX-License-Identifier: Apache-2.0
"""What the documents tell people to apply, on a real API server; tests/install runs the commands of the main path."""

import glob
import re
import shlex
import unittest
from pathlib import Path

import yaml

from tests.deploy.chart import CHART
from tests.install.document import blocks
from tests.kit import deploy
from tests.kit.api import Api
from tests.kit.kubectl import apply_definitions, apply_objects, given_kubeconfig, kubectl
from tests.kit.paths import ROOT
from tests.kit.waiting import wait_for


def manifests(text):
    """Objects of gpupool in blocks of YAML, and in what is given to kubectl."""
    found = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S) + re.findall(r"<<'?EOF'?\n(.*?)^EOF$", text, re.M | re.S)
    objects = [item for part in found for item in yaml.safe_load_all(part)]
    return [item for item in objects if isinstance(item, dict) and item.get("apiVersion") == "gpupool.dev/v1alpha1"]


class DocumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        apply_definitions(given_kubeconfig())
        apply_objects(given_kubeconfig(), deploy.objects("users"))

    def test_every_pool_and_job_is_accepted(self):
        count = 0
        for path in ("README.md", *glob.glob("docs/*.md", root_dir=ROOT)):
            objects = manifests((ROOT / path).read_text(encoding="utf-8"))
            count += len(objects)
            for item in objects:
                with self.subTest(path, name=item["metadata"]["name"]):
                    kubectl(given_kubeconfig(), "apply", "--dry-run=server", "-f", "-", text=yaml.safe_dump(item))
        self.assertGreaterEqual(count, 8)

    def test_the_images_have_the_version_of_the_chart(self):
        version = yaml.safe_load(Path(CHART, "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]
        for path in ("README.md", "docs/install.md"):
            text = (ROOT / path).read_text(encoding="utf-8")
            self.assertEqual({version}, set(re.findall(r"(?:operator|device-plugin)[-:](\d+\.\d+\.\d+)", text)), path)

    def test_readme_installs_as_the_page_says(self):
        self.assertEqual(blocks("README.md", "### 2. Install"), blocks("docs/install.md", "## Install"))

    def test_a_team_rents_after_the_documented_commands(self):
        admin = Api(given_kubeconfig())
        lines = "".join(blocks("docs/security.md", "### Letting people rent")).splitlines()
        self.addCleanup(kubectl, given_kubeconfig(), "delete", "--ignore-not-found", "--wait=false", "namespace/vision",
                        "clusterrolebinding/see-pools")
        for line in lines:
            program, *arguments = shlex.split(line)
            self.assertEqual("kubectl", program)
            kubectl(given_kubeconfig(), *arguments)
        wait_for("the roles to be in force", lambda: may(admin, "gpupool.dev", "gpupools", "list")
                 and may(admin, "gpupool.dev", "gpujobs", "create", "vision"))
        for group, resource in (("", "pods/exec"), ("gpupool.dev", "gpujobs")):
            self.assertTrue(may(admin, group, resource, "create", "vision"))
            self.assertFalse(may(admin, group, resource, "create", "default"))


def may(admin, group, resource, verb, namespace=""):
    """Whether a member of the team may."""
    resource, _, sub = resource.partition("/")
    review = {"spec": {"user": "ann", "groups": ["vision-team"], "resourceAttributes": {
        "group": group, "resource": resource, "subresource": sub, "verb": verb, "namespace": namespace}}}
    return admin.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]
