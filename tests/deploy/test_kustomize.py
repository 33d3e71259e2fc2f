# SPDX-License-Identifier: Apache-2.0
"""The kustomize overlays, built by a real kubectl."""

import os
import unittest

import yaml

from tests.kit.commands import output_of
from tests.kit.paths import ROOT


def build(overlay):
    kubectl = output_of(ROOT / "deps" / "helm", "kubectl")
    shown = output_of(kubectl, "kustomize", ROOT / "deploy" / "kustomize" / overlay)
    return {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(shown)}


def plain():
    with open(os.path.join(ROOT, "deploy", "manifests", "install.yaml"), encoding="utf-8") as source:
        return {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(source) if item}


class OverlayTest(unittest.TestCase):
    def test_whole_gpus_leave_the_plugin_out(self):
        objects, base = build("whole-gpus"), plain()
        wanted = {key for key, item in base.items()
                  if item["metadata"].get("labels", {}).get("app.kubernetes.io/component") != "device-plugin"}
        self.assertLess(len(wanted), len(base))
        self.assertEqual(set(objects), wanted | {("GpuPool", "lab")})
        self.assertNotIn("sharing", objects["GpuPool", "lab"]["spec"])

    def test_slices_are_cut_as_the_pool_promises(self):
        objects, base = build("shared-slices"), plain()
        self.assertEqual(set(objects), set(base) | {("GpuPool", "shared")})
        config = yaml.safe_load(objects["ConfigMap", "gpupool-device-plugin"]["data"]["config.yaml"])
        self.assertEqual(config["deviceSplitCount"], objects["GpuPool", "shared"]["spec"]["sharing"]["deviceSplitCount"])
        changed = {key for key in base if base[key] != objects[key]}
        self.assertEqual(changed, {("ConfigMap", "gpupool-device-plugin")})
