# SPDX-License-Identifier: Apache-2.0
"""examples/gitops fits the tree: what it names is there, and what it asks to wait for can be waited for.

Pools and jobs are applied to a server by tests/deploy; the definitions of Argo CD and Flux belong to these."""

import glob
import os
import unittest

import yaml

from tests.kit.paths import ROOT

FOLDER = os.path.join(ROOT, "examples", "gitops")
ANNOTATION = "argocd.argoproj.io/"


def documents(path):
    with open(path, encoding="utf-8") as source:
        return [document for document in yaml.safe_load_all(source) if document]


def exists(*path):
    return os.path.exists(os.path.join(ROOT, *path))


class GitOpsTest(unittest.TestCase):
    def test_flux(self):
        found = documents(os.path.join(FOLDER, "flux.yaml"))
        sources = {d["metadata"]["name"] for d in found if d["kind"] == "GitRepository"}
        steps = {d["metadata"]["name"]: d["spec"] for d in found if d["kind"] == "Kustomization"}
        self.assertEqual(len(found), len(sources) + len(steps))
        for name, spec in steps.items():
            self.assertTrue(exists(spec["path"], "kustomization.yaml"), f"{name}: otherwise Flux takes every file there")
            self.assertIn(spec["sourceRef"]["name"], sources)
            self.assertTrue(spec["wait"], name)
            self.assertLessEqual({each["name"] for each in spec.get("dependsOn", [])}, steps.keys())
        pools = steps["gpupool-pools"]
        self.assertEqual([{"name": "gpupool"}], pools["dependsOn"], "pools come after their definition")
        self.assertTrue(exists(steps["gpupool"]["path"], "install.yaml"))

    def test_argo_cd(self):
        (application,) = documents(os.path.join(FOLDER, "argocd.yaml"))
        self.assertEqual(("Application", "argoproj.io/v1alpha1"), (application["kind"], application["apiVersion"]))
        chart, pools = application["spec"]["sources"]
        self.assertTrue(exists(chart["path"], "Chart.yaml"))
        values = documents(os.path.join(ROOT, chart["path"], "values.yaml"))[0]
        for part, settings in chart["helm"]["valuesObject"].items():
            self.assertLessEqual(settings.keys(), values[part].keys())
        self.assertTrue(exists(pools["path"], "kustomization.yaml"))
        self.assertIn("ServerSideApply=true", application["spec"]["syncPolicy"]["syncOptions"])

    def test_pools_wait_for_their_definition(self):
        folder = os.path.join(FOLDER, "pools")
        (listing,) = documents(os.path.join(folder, "kustomization.yaml"))
        files = {os.path.basename(path) for path in glob.glob(os.path.join(folder, "*.yaml"))}
        self.assertEqual(files - {"kustomization.yaml"}, set(listing["resources"]))
        for pool in (each for name in listing["resources"] for each in documents(os.path.join(folder, name))):
            self.assertEqual("GpuPool", pool["kind"])
            marks = pool["metadata"]["annotations"]
            self.assertGreater(int(marks[ANNOTATION + "sync-wave"]), 0)
            self.assertEqual("SkipDryRunOnMissingResource=true", marks[ANNOTATION + "sync-options"])

    def test_settings_of_argo_cd_are_the_scripts(self):
        (settings,) = documents(os.path.join(ROOT, "deploy", "argocd", "argocd-cm.yaml"))
        for kind in ("GpuJob", "GpuPool", "GpuSweep"):
            with open(os.path.join(ROOT, "deploy", "argocd", kind.lower() + ".lua"), encoding="utf-8") as script:
                self.assertEqual(script.read(), settings["data"][f"resource.customizations.health.gpupool.dev_{kind}"])
        self.assertEqual(3, len(settings["data"]))
