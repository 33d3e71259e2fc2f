# SPDX-License-Identifier: Apache-2.0
"""The page's part of the chart, and where pods of gpupool's own may run."""

import json
import re
import unittest

from tests.deploy.chart import HelmError, template
from tests.deploy.pod_security import violations
from tests.kit.commands import output_of
from tests.kit.names import POOL_LABEL
from tests.kit.paths import program

ON = ["--set", "web.enabled=true,web.tlsSecret=page,web.hosts={gpus.example.com,10.0.0.1}"]
AWAY = {"nodeSelectorTerms": [{"matchExpressions": [{"key": POOL_LABEL, "operator": "DoesNotExist"}]}]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def of_web(objects, kind):
    return [item for item in objects if item["kind"] == kind and item["metadata"]["name"] == "gpupool-web"]


def pod_of(objects, name):
    (found,) = [item for item in objects if item["kind"] == "Deployment" and item["metadata"]["name"] == f"gpupool-{name}"]
    return found["spec"]["template"]["spec"]


class WebChartTest(unittest.TestCase):
    def test_it_costs_nothing_where_it_is_off(self):
        self.assertNotIn("gpupool-web", json.dumps(template()))

    def test_it_has_no_rights_and_no_token(self):
        objects = template(*ON)
        pod = pod_of(objects, "web")
        self.assertIs(pod["automountServiceAccountToken"], False)
        self.assertIs(of_web(objects, "ServiceAccount")[0]["automountServiceAccountToken"], False)
        self.assertNotIn("serviceAccountToken", json.dumps(pod))
        bound = [s["name"] for item in objects for s in item.get("subjects", [])]
        self.assertNotIn("gpupool-web", bound)
        self.assertEqual(violations(pod), [])
        self.assertTrue(pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"])

    def test_tls_and_hosts_are_needed(self):
        for options, named in (("web.enabled=true", "web.hosts"), ("web.enabled=true,web.hosts={a.example}", "web.tlsSecret"),
                               ("web.enabled=true,web.hosts={a/b},web.tlsSecret=x", "/web/hosts")):
            with self.assertRaises(HelmError) as caught:
                template("--set", options)
            self.assertIn(named, str(caught.exception))
        pod = pod_of(template(*ON), "web")
        self.assertIn({"name": "tls", "secret": {"secretName": "page", "defaultMode": 0o440}}, pod["volumes"])
        self.assertEqual([arg for arg in pod["containers"][0]["args"] if arg.startswith("--host=")],
                         ["--host=gpus.example.com", "--host=10.0.0.1"])
        (service,) = of_web(template(*ON), "Service")
        self.assertEqual(service["spec"]["ports"], [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": "https"}])

    def test_its_flags_are_known(self):
        known = set(re.findall(r"--[a-z-]+", output_of(program("gpupool-web"), "--help")))
        self.assertLessEqual({arg.partition("=")[0] for arg in pod_of(template(*ON), "web")["containers"][0]["args"]}, known)


class PlaceTest(unittest.TestCase):
    def test_nothing_of_ours_runs_on_nodes_of_pools(self):
        objects = template(*ON)
        for name in ("operator", "web"):
            self.assertEqual(pod_of(objects, name)["affinity"]["nodeAffinity"], {REQUIRED: AWAY}, name)

    def test_other_rules_stand_beside_it(self):
        affinity = pod_of(template(), "operator")["affinity"]
        self.assertIn("preferredDuringSchedulingIgnoredDuringExecution", affinity["podAntiAffinity"])
        affinity = pod_of(template("--set", "operator.antiAffinity=required"), "operator")["affinity"]
        (term,) = affinity["podAntiAffinity"][REQUIRED]
        self.assertEqual(term["topologyKey"], "kubernetes.io/hostname")
        self.assertEqual(term["labelSelector"]["matchLabels"]["app.kubernetes.io/component"], "operator")
        self.assertIn("nodeAffinity", affinity)
        affinity = pod_of(template(text="operator: {affinity: {podAffinity: {}}}"), "operator")["affinity"]
        self.assertEqual(affinity, {"nodeAffinity": {REQUIRED: AWAY}, "podAffinity": {}})

    def test_the_label_can_be_another_one_or_none(self):
        text = json.dumps(pod_of(template("--set", "poolNodes.label=rented"), "operator")["affinity"])
        self.assertIn('"key": "rented"', text)
        off = template(*ON, "--set", "poolNodes.avoid=false,operator.antiAffinity=none")
        for name in ("operator", "web"):
            self.assertNotIn("affinity", pod_of(off, name))
