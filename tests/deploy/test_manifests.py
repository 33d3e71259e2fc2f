# SPDX-License-Identifier: Apache-2.0
"""The chart and the plain manifests on a real API server, as a GitOps tool applies them: again and again."""

import glob
import json
import os
import subprocess
import unittest

from tests.deploy.chart import ALL_ON, CHART, helm
from tests.kit import deploy
from tests.kit.api import Api
from tests.kit.kubectl import given_kubeconfig, kubectl, wait_established
from tests.kit.paths import ROOT, kubectl_program

NEWER = ("ServiceMonitor", "PrometheusRule")  # of the Prometheus Operator, which is not here


def differs(*paths):
    """What `kubectl diff` shows; empty: nothing."""
    done = subprocess.run([kubectl_program(), "--kubeconfig", given_kubeconfig(), "diff",
                           *files(paths)], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise AssertionError(done.stderr)
    return done.stdout


def files(paths):
    return [word for path in paths for word in ("-f", path)]


class ManifestsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.minor = Api(given_kubeconfig()).minor()
        policies = ["admission.yaml", "placement-admission.yaml"] if cls.minor >= 30 else []
        install = "install.yaml" if cls.minor >= 25 else "install-before-1.25.yaml"
        cls.files = [os.path.join(deploy.MANIFESTS, name) for name in (install, *policies)]
        cls.addClassCleanup(cls.clean)
        kubectl(given_kubeconfig(), "apply", "-f", cls.files[0])
        wait_established(lambda *arguments: kubectl(given_kubeconfig(), *arguments))
        for path in cls.files[1:]:
            kubectl(given_kubeconfig(), "apply", "-f", path)

    @classmethod
    def clean(cls):
        """Definitions and namespace stay: other tests use them. So the service accounts do."""
        kinds = "deployments,daemonsets,services,configmaps,networkpolicies,poddisruptionbudgets"
        kubectl(given_kubeconfig(), "-n", "gpupool-system", "delete", kinds, "-l", "app.kubernetes.io/name=gpupool")
        for path in cls.files[1:]:
            kubectl(given_kubeconfig(), "delete", "--ignore-not-found", "-f", path)

    def test_applied_twice_they_change_nothing(self):
        for path in self.files:
            before = self.versions(path)
            shown = kubectl(given_kubeconfig(), "apply", "-f", path)
            self.assertEqual(self.versions(path), before)
            # kubectl sends every PodDisruptionBudget of policy/v1 again, and says so.
            self.assertEqual([line for line in shown.splitlines() if not line.endswith(" unchanged")
                              and not line.startswith("poddisruptionbudget.policy/")], [])

    def test_the_server_adds_nothing_that_looks_like_a_change(self):
        self.assertEqual(differs(*self.files), "")

    def test_pools_and_jobs_of_the_examples_stay_as_they_were_written(self):
        paths = [path for folder in ("", "gitops/pools") for path in
                 sorted(glob.glob(os.path.join(ROOT, "examples", folder, "*.yaml")))
                 if not path.endswith("kustomization.yaml")]
        self.assertGreater(len(paths), 8)
        self.addCleanup(kubectl, given_kubeconfig(), "delete", "--ignore-not-found", *files(paths))
        kubectl(given_kubeconfig(), "apply", *files(paths))
        self.assertEqual(differs(*paths), "")
        for line in kubectl(given_kubeconfig(), "apply", *files(paths)).splitlines():
            if not line.startswith("secret/"):  # stringData is never stored, so it always looks like a change
                self.assertTrue(line.endswith(" unchanged"), line)

    def test_the_chart_with_everything_on_is_accepted(self):
        rendered = helm("template", "gpupool", CHART, "--namespace", "gpupool-system", *ALL_ON, "--kube-version",
                        f"1.{self.minor}.0")
        documents = [part for part in rendered.split("\n---\n") if not any(f"kind: {kind}" in part for kind in NEWER)]
        shown = kubectl(given_kubeconfig(), "apply", "--dry-run=server", "-f", "-", text="\n---\n".join(documents))
        self.assertIn("deployment.apps/gpupool-operator", shown)

    def versions(self, path):
        objects = json.loads(kubectl(given_kubeconfig(), "get", "-o", "json", "-f", path))["items"]
        return {item["metadata"]["uid"]: item["metadata"]["resourceVersion"] for item in objects}
