# SPDX-License-Identifier: Apache-2.0
"""The part of the chart that keeps the books."""

import json
import re
import unittest

from tests.deploy.chart import of_kind, template
from tests.deploy.pod_security import violations
from tests.deploy.test_keeper import named
from tests.deploy.test_web import AWAY, ON as WEB, REQUIRED, pod_of
from tests.kit.commands import output_of
from tests.kit.paths import program

ON = ["--set", "ledger.enabled=true"]
READ = ["--set", "ledger.enabled=true,ledger.tlsSecret=ledger"]


class LedgerChartTest(unittest.TestCase):
    def test_it_costs_nothing_where_it_is_off(self):
        self.assertEqual([], [item for item in template() if "ledger" in json.dumps(item["metadata"])
                              and item["kind"] != "CustomResourceDefinition"])
        for role in of_kind(template(), "ClusterRole"):
            for word in ("gpuledgers", "gpuaccounts", "gpubillrecords"):
                self.assertNotIn(word, json.dumps(role["rules"]), role["metadata"]["name"])
        self.assertNotIn("--ledger", pod_of(template(), "operator")["containers"][0]["args"])
        self.assertIn("--ledger", pod_of(template(*ON), "operator")["containers"][0]["args"])

    def test_it_reads_jobs_and_changes_none(self):
        objects = template(*ON)
        rules = named(objects, "ClusterRole", "gpupool-ledger")["rules"]
        self.assertEqual({"gpujobs": {"get", "list", "watch"}, "gpuaccounts": {"list", "watch"}, "gpunodes": {"list", "watch"}, "gpuledgers": {"get", "create"},
                          "gpubillrecords": {"list", "watch", "delete"}, "gpuledgers/status": {"patch"},
                          "gpuaccounts/status": {"patch"}},
                         {resource: set(rule["verbs"]) for rule in rules for resource in rule["resources"]})
        payer = named(objects, "ClusterRole", "gpupool-payer")["rules"]
        self.assertFalse([rule for rule in payer if {"update", "patch", "create"} & set(rule["verbs"])
                          and rule["resources"] != ["gpuaccounts"]])
        bound = [item["roleRef"]["name"] for item in objects for subject in item.get("subjects", [])
                 if (subject.get("kind"), subject["name"]) == ("ServiceAccount", "gpupool-ledger")]
        self.assertEqual(bound, ["gpupool-ledger"])
        pod = pod_of(objects, "ledger")
        self.assertEqual(violations(pod), [])
        self.assertTrue(pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"])

    def test_readers_are_served_only_with_a_certificate(self):
        without = json.dumps(template(*ON, *WEB))
        for word in ("7072", "ledger-way", "services/proxy", "--ledger=https"):
            self.assertNotIn(word, without)
        self.assertNotIn("Service", [item["kind"] for item in template(*ON) if item["metadata"]["name"] == "gpupool-ledger"])
        objects = template(*READ, *WEB)
        self.assertIn({"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}, named(objects, "ClusterRole", "gpupool-ledger")["rules"])
        self.assertEqual(named(objects, "Service", "gpupool-ledger")["spec"]["ports"],
                         [{"name": "readers", "port": 7072, "protocol": "TCP", "targetPort": "readers"}])
        pod = pod_of(objects, "ledger")
        self.assertEqual(violations(pod), [])
        self.assertIn({"name": "tls", "secret": {"secretName": "ledger", "defaultMode": 0o440, "optional": True}}, pod["volumes"])
        self.assertIn("--readers-bind-address=:7072", pod["containers"][0]["args"])
        web = pod_of(objects, "web")
        self.assertIn("--ledger=https://gpupool-ledger.gpupool-system.svc:7072", web["containers"][0]["args"])
        self.assertIn({"name": "ledger", "secret": {"secretName": "ledger", "items": [{"key": "tls.crt", "path": "tls.crt"}]}}, web["volumes"])

    def test_the_way_by_the_api_server_is_this_service_alone(self):
        role = named(template(*READ), "Role", "gpupool-ledger-way")
        self.assertEqual(role["rules"], [{"apiGroups": [""], "resources": ["services/proxy"], "verbs": ["get"],
                                          "resourceNames": ["https:gpupool-ledger:7072"]}])
        binding = named(template(*READ), "RoleBinding", "gpupool-ledger-way")
        self.assertEqual([subject["name"] for subject in binding["subjects"]], ["system:authenticated"])
        self.assertNotIn("ledger-way", json.dumps(template(*READ, "--set", "ledger.proxyReaders=null")))

    def test_it_runs_alone_and_not_on_nodes_of_pools(self):
        deployment = named(template(*ON), "Deployment", "gpupool-ledger")["spec"]
        self.assertEqual((deployment["replicas"], deployment["strategy"]), (1, {"type": "Recreate"}))
        self.assertEqual(deployment["template"]["spec"]["affinity"]["nodeAffinity"], {REQUIRED: AWAY})

    def test_its_claim_outlives_the_release(self):
        claim = named(template(*ON), "PersistentVolumeClaim", "gpupool-ledger")
        self.assertEqual(claim["metadata"]["annotations"]["helm.sh/resource-policy"], "keep")
        objects = template(*ON, "--set", "ledger.storage.existingClaim=books")
        self.assertNotIn("PersistentVolumeClaim", [item["kind"] for item in objects])
        self.assertEqual(pod_of(objects, "ledger")["volumes"], [{"name": "data", "persistentVolumeClaim": {"claimName": "books"}}])

    def test_with_postgresql_it_has_no_volume(self):
        objects = template(*ON, "--set", "ledger.postgres.secret=books")
        self.assertNotIn("PersistentVolumeClaim", [item["kind"] for item in objects])
        pod = pod_of(objects, "ledger")
        self.assertEqual(pod["volumes"], [{"name": "postgres", "secret": {"secretName": "books"}}])
        (container,) = pod["containers"]
        self.assertEqual(container["volumeMounts"], [{"name": "postgres", "mountPath": "/postgres", "readOnly": True}])
        self.assertEqual(container["env"], [{"name": "GPUPOOL_LEDGER_DATABASE", "valueFrom": {"secretKeyRef": {"name": "books", "key": "url"}}}])
        self.assertNotIn("--database", json.dumps(container["args"]))
        self.assertEqual(violations(pod), [])

    def test_its_flags_are_known(self):
        known = set(re.findall(r"--[a-z-]+", output_of(program("gpupool-ledger"), "serve", "--help")))
        command, *flags = pod_of(template(*READ), "ledger")["containers"][0]["args"]
        self.assertEqual("serve", command)
        self.assertLessEqual({flag.partition("=")[0] for flag in flags}, known)
