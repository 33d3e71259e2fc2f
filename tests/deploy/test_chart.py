# SPDX-License-Identifier: Apache-2.0
"""The Helm chart, rendered by a real helm."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

import yaml

from tests.deploy.bad_values import BAD_VALUES
from tests.deploy.chart import ALL_ON, CHART, HelmError, helm, of_kind, template
from tests.deploy.pod_security import violations
from tests.kit.commands import output_of
from tests.kit.paths import ROOT, cpp_header, program

# What a device plugin cannot do without: the kubelet's sockets are root's, in folders of the node.
PLUGIN_NEEDS = {"volume device-plugins is a hostPath", "volume pod-resources is a hostPath", "volume state is a hostPath",
                "volume driver is a hostPath", "container device-plugin may run as root",
                "container device-plugin runs as root"}


# Where limits are enforced: the PIDs of the node, the limiter's folder, and an init container that fills it.
ENFORCING = ["--set", "devicePlugin.enforcement.enabled=true,devicePlugin.config.enforce=library"]
ENFORCEMENT_NEEDS = {"hostPID is true", "volume limiter is a hostPath", "volume regions is a hostPath",
                     "container install-limiter may run as root", "container install-limiter runs as root"}


def names(objects):
    return {(item["kind"], item["metadata"]["name"]) for item in objects}


class ValuesTest(unittest.TestCase):
    def test_lint_is_strict_and_clean(self):
        helm("lint", "--strict", CHART)

    def test_wrong_values_are_refused_by_name(self):
        self.assertGreaterEqual(len(BAD_VALUES), 20)
        for text, named in BAD_VALUES:
            with self.subTest(text):
                with self.assertRaises(HelmError) as caught:
                    template(text=text)
                self.assertIn(named, str(caught.exception))

    def test_every_value_is_in_the_schema_and_explained(self):
        with open(os.path.join(CHART, "values.schema.json"), encoding="utf-8") as source:
            schema = json.load(source)
        with open(os.path.join(CHART, "values.yaml"), encoding="utf-8") as source:
            text = source.read()
        self.assertEqual(set(yaml.safe_load(text)) | {"global"}, set(schema["properties"]))
        for key in ("operator", "devicePlugin", "web", "keeper", "ledger", "poolNodes", "crds", "rbac", "priorityClass", "metrics", "networkPolicy"):
            self.assertEqual(set(yaml.safe_load(text)[key]), set(schema["properties"][key]["properties"]), key)
        for block in re.findall(r"\n\n(\S.*)", text):
            self.assertTrue(block.startswith("#") or block.endswith(":"), f"{block}: says nothing about itself")


class RenderTest(unittest.TestCase):
    def test_rules_of_newer_servers_are_left_out(self):
        for kube, cel, budget in (("1.20.2", False, "policy/v1beta1"), ("1.24.9", False, "policy/v1"),
                                  ("1.25.0", True, "policy/v1"), ("1.36.2", True, "policy/v1")):
            objects = template(kube=kube)
            definitions = of_kind(objects, "CustomResourceDefinition")
            self.assertEqual(len(definitions), 7)
            self.assertEqual("x-kubernetes-validations" in json.dumps(definitions), cel, kube)
            self.assertEqual([item["apiVersion"] for item in of_kind(objects, "PodDisruptionBudget")], [budget], kube)

    def test_definitions_are_those_of_crds(self):
        for definition in of_kind(template(), "CustomResourceDefinition"):
            with open(os.path.join(ROOT, "crds", f"gpupool.dev_{definition['spec']['names']['plural']}.yaml"),
                      encoding="utf-8") as source:
                self.assertEqual(definition["spec"], yaml.safe_load(source)["spec"])
            self.assertEqual(definition["metadata"]["annotations"], {"helm.sh/resource-policy": "keep"})

    def test_the_plugin_offers_whole_gpus_unless_told_otherwise(self):
        for options, count in (((), 1), (("--set", "devicePlugin.config.deviceSplitCount=10"), 10)):
            (config,) = [item["data"]["config.yaml"] for item in of_kind(template(*options), "ConfigMap")]
            self.assertEqual(yaml.safe_load(config)["deviceSplitCount"], count)

    def test_beside_another_plugin_nothing_is_left_of_ours(self):
        objects = template(*ALL_ON, "--set", "devicePlugin.enabled=false")
        self.assertIn(("Deployment", "gpupool-operator"), names(objects))
        self.assertEqual([meta["name"] for meta in (item["metadata"] for item in objects)
                          if meta["labels"]["app.kubernetes.io/component"] == "device-plugin"], [])

    def test_data_version_is_the_operators(self):
        with open(os.path.join(CHART, "Chart.yaml"), encoding="utf-8") as source:
            known = yaml.safe_load(source)["annotations"]["gpupool.dev/data-version"]
        self.assertIn(f"kDataVersion = {known};", cpp_header("data_version.h").read_text(encoding="utf-8"))
        with open(os.path.join(ROOT, "docs", "upgrade.md"), encoding="utf-8") as source:
            self.assertRegex(source.read(), rf"\n\| [0-9.]+ \| {known} \|")

    def test_all_that_is_optional_can_be_off(self):
        off = ("crds.install=false,operator.enabled=false,devicePlugin.enabled=false,rbac.create=false,rbac.userRoles=false,"
               "networkPolicy.enabled=false,metrics.services=false")
        self.assertEqual(template("--set", off), [])
        everything = names(template(*ALL_ON))
        for switch in ("rbac.create", "rbac.userRoles", "networkPolicy.enabled", "operator.podDisruptionBudget.enabled",
                       "operator.serviceAccount.create", "devicePlugin.serviceAccount.create", "devicePlugin.admissionPolicy",
                       "crds.install", "operator.enabled", "devicePlugin.enabled"):
            self.assertLess(names(template(*ALL_ON, "--set", switch + "=false")), everything, switch)

    def test_everything_lives_in_the_namespace_or_is_moved(self):
        for options, namespace in (((), "gpupool-system"), (("--set", "namespaceOverride=elsewhere"), "elsewhere")):
            objects = template(*ALL_ON, *options)
            found = {item["metadata"]["namespace"] for item in objects if "namespace" in item["metadata"]}
            found |= {subject["namespace"] for item in objects for subject in item.get("subjects", []) if subject["kind"] == "ServiceAccount"}
            self.assertEqual(found, {namespace})

    def test_names_and_labels_are_ours(self):
        for item in template(*ALL_ON, "--set", "fullnameOverride=rent,commonLabels.team=ml,commonAnnotations.by=us"):
            meta = item["metadata"]
            self.assertEqual(meta["labels"]["team"], "ml", meta["name"])
            self.assertEqual(meta["annotations"]["by"], "us", meta["name"])
            if item["kind"] not in ("CustomResourceDefinition", "PriorityClass"):
                self.assertRegex(meta["name"], "^rent-")

    def test_a_changed_chart_restarts_nobody(self):
        for item in of_kind(template(), "Deployment") + of_kind(template(), "DaemonSet"):
            labels = item["spec"]["template"]["metadata"]["labels"]
            self.assertEqual(labels, item["spec"]["selector"]["matchLabels"], "more would change with the version")


class PodTest(unittest.TestCase):
    def test_operator_is_restricted(self):
        pod = of_kind(template(), "Deployment")[0]["spec"]["template"]["spec"]
        self.assertEqual(violations(pod), [])
        self.assertTrue(pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"])

    def test_plugin_breaks_only_what_it_must(self):
        pod = of_kind(template(), "DaemonSet")[0]["spec"]["template"]["spec"]
        self.assertEqual(set(violations(pod)), PLUGIN_NEEDS)
        self.assertTrue(pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"])

    def test_enforcement_costs_nothing_where_it_is_off(self):
        off = of_kind(template(), "DaemonSet")[0]["spec"]["template"]["spec"]
        self.assertNotIn("initContainers", off)
        self.assertNotIn("hostPID", off)
        for word in ("limiter", "regions"):
            self.assertNotIn(word, json.dumps(off))

    def test_only_the_init_container_writes_the_limiter(self):
        objects = template(*ENFORCING)
        pod = of_kind(objects, "DaemonSet")[0]["spec"]["template"]["spec"]
        self.assertIs(pod["hostPID"], True)
        self.assertEqual(set(violations(pod)), PLUGIN_NEEDS | ENFORCEMENT_NEEDS)
        folder = {"name": "limiter", "hostPath": {"path": "/var/lib/gpupool-limiter", "type": "DirectoryOrCreate"}}
        self.assertIn(folder, pod["volumes"])
        (init,), (plugin,) = pod["initContainers"], pod["containers"]
        self.assertEqual(init["image"], plugin["image"])
        self.assertEqual(init["volumeMounts"], [{"name": "limiter", "mountPath": "/var/lib/gpupool-limiter"}])
        mounts = {mount["name"]: mount for mount in plugin["volumeMounts"]}
        self.assertEqual(mounts["limiter"],
                         {"name": "limiter", "mountPath": "/var/lib/gpupool-limiter", "readOnly": True})
        self.assertEqual(mounts["regions"], {"name": "regions", "mountPath": "/run/gpupool/regions"})
        # No other volume that the plugin writes leads there.
        paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume}
        writable = [paths[name] for name, mount in mounts.items() if name in paths and not mount.get("readOnly")]
        self.assertEqual([path for path in writable if "/var/lib/gpupool-limiter/".startswith(path + "/")], [])
        # Its rights are the same.
        roles = [item for item in template() if item["kind"] == "ClusterRole"]
        self.assertEqual([item for item in objects if item["kind"] == "ClusterRole"], roles)

    def test_the_check_finds_a_bad_pod(self):
        bad = {"hostNetwork": True, "containers": [{"name": "c", "securityContext": {"privileged": True}}],
               "volumes": [{"name": "v", "hostPath": {"path": "/"}}]}
        self.assertEqual(len(violations(bad)), 7, violations(bad))

    def test_flags_are_known_to_the_programs(self):
        for kind, name in (("Deployment", "gpupool-operator"), ("DaemonSet", "gpupool-device-plugin")):
            shown = output_of(program(name), "--help")
            known = set(re.findall(r"--[a-z-]+", shown))
            pod = of_kind(template(*ENFORCING), kind)[0]["spec"]["template"]["spec"]
            for container in [*pod.get("initContainers", []), *pod["containers"]]:
                self.assertLessEqual({arg.partition("=")[0] for arg in container["args"]}, known)


class GeneratedTest(unittest.TestCase):
    def test_manifests_are_up_to_date(self):
        done = subprocess.run([os.path.join(ROOT, "deploy", "generate"), "--check"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_the_chart_has_no_definition_besides_those_of_crds(self):
        self.assertEqual(*({path.name for path in folder.iterdir()} for folder in (Path(CHART, "definitions"), ROOT / "crds")))

    def test_nothing_is_a_link(self):
        """Flux leaves links out of the artifacts that it makes of a repository."""
        links = [path for top in ("crds", "deploy", "examples") for path in (ROOT / top, *(ROOT / top).rglob("*"))
                 if path.is_symlink()]
        self.assertEqual(links, [])

    def test_plain_manifests_know_nothing_of_helm(self):
        with open(os.path.join(ROOT, "deploy", "manifests", "install.yaml"), encoding="utf-8") as source:
            text = source.read()
        self.assertNotIn("helm", text.lower())
        self.assertEqual(names(template(kube="1.25.0")) | {("Namespace", "gpupool-system")},
                         names(item for item in yaml.safe_load_all(text) if item))
