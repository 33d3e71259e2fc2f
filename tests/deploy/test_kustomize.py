"""The kustomize overlays, built by a real kubectl."""

import os
import subprocess
import unittest

import yaml

from chart import ROOT


def build(overlay):
    kubectl = subprocess.run([os.path.join(ROOT, "deps", "helm"), "kubectl"], check=True, stdout=subprocess.PIPE,
                             text=True).stdout.strip()
    folder = os.path.join(ROOT, "deploy", "kustomize", overlay)
    done = subprocess.run([kubectl, "kustomize", folder], check=True, stdout=subprocess.PIPE, text=True)
    return {(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(done.stdout)}


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
