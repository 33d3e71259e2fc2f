# SPDX-License-Identifier: Apache-2.0
"""The part of the chart that stores logs."""

import json
import re
import unittest

from tests.deploy.chart import HelmError, template
from tests.deploy.pod_security import violations
from tests.deploy.test_web import AWAY, ON as WEB, REQUIRED, pod_of
from tests.kit.commands import output_of
from tests.kit.paths import program

ON = ["--set", "keeper.enabled=true,keeper.keysSecret=keys,keeper.tlsSecret=keeper"]


def named(objects, kind, name):
    (found,) = [item for item in objects if item["kind"] == kind and item["metadata"]["name"] == name]
    return found


class KeeperChartTest(unittest.TestCase):
    def test_it_costs_nothing_where_it_is_off(self):
        text = json.dumps(template(*WEB))
        for word in ("keeper", "gpujobs/log", "services/proxy", "7070"):
            self.assertNotIn(word, text)
        self.assertNotIn("volumes", pod_of(template(), "operator"))

    def test_its_only_right_is_to_look_at_namespaces(self):
        objects = template(*ON)
        self.assertEqual(named(objects, "ClusterRole", "gpupool-keeper")["rules"],
                         [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]}])
        account = named(objects, "ServiceAccount", "gpupool-keeper")["metadata"]
        bound = [item for item in objects for subject in item.get("subjects", [])
                 if (subject.get("kind"), subject["name"]) == ("ServiceAccount", account["name"])]
        self.assertEqual([item["roleRef"]["name"] for item in bound], ["gpupool-keeper"])
        pod = pod_of(objects, "keeper")
        self.assertEqual(violations(pod), [])
        self.assertTrue(pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"])

    def test_the_way_by_the_api_server_is_this_service_alone(self):
        role = named(template(*ON), "Role", "gpupool-keeper-way")
        self.assertEqual(role["rules"], [{"apiGroups": [""], "resources": ["services/proxy"], "verbs": ["get"],
                                          "resourceNames": ["https:gpupool-keeper:7071"]}])
        binding = named(template(*ON), "RoleBinding", "gpupool-keeper-way")
        self.assertEqual([subject["name"] for subject in binding["subjects"]], ["system:authenticated"])
        self.assertNotIn("keeper-way", json.dumps(template(*ON, "--set", "keeper.proxyReaders=null")))

    def test_viewers_and_renters_may_read_logs(self):
        objects = template(*ON)
        for name, may in (("viewer", True), ("renter", True), ("pool-viewer", False), ("owner", False)):
            rules = json.dumps(named(objects, "ClusterRole", f"gpupool-{name}")["rules"])
            self.assertEqual("gpujobs/log" in rules, may, name)

    def test_secrets_are_needed(self):
        for options, said in (("keeper.enabled=true", "kubectl create secret generic"), ("keeper.enabled=true,keeper.keysSecret=k", "keeper.tlsSecret")):
            with self.assertRaises(HelmError) as caught:
                template("--set", options)
            self.assertIn(said, str(caught.exception))

    def test_it_runs_alone_and_not_on_nodes_of_pools(self):
        deployment = named(template(*ON), "Deployment", "gpupool-keeper")["spec"]
        self.assertEqual((deployment["replicas"], deployment["strategy"]), (1, {"type": "Recreate"}))
        self.assertEqual(deployment["template"]["spec"]["affinity"]["nodeAffinity"], {REQUIRED: AWAY})

    def test_operator_and_page_know_it(self):
        objects = template(*ON, *WEB)
        operator = pod_of(objects, "operator")
        self.assertIn("--keeper-address=gpupool-keeper.gpupool-system.svc:7070", operator["containers"][0]["args"])
        self.assertIn({"name": "keeper-keys", "secret": {"secretName": "keys", "defaultMode": 0o440}}, operator["volumes"])
        web = pod_of(objects, "web")
        self.assertIn("--keeper=https://gpupool-keeper.gpupool-system.svc:7071", web["containers"][0]["args"])
        self.assertIn({"name": "keeper", "secret": {"secretName": "keeper", "items": [{"key": "tls.crt", "path": "tls.crt"}]}}, web["volumes"])

    def test_storage(self):
        def volume(*options):
            objects = template(*ON, *options)
            (data,) = [v for v in pod_of(objects, "keeper")["volumes"] if v["name"] == "data"]
            return data, [item for item in objects if item["kind"] == "PersistentVolumeClaim"]
        data, (claim,) = volume("--set", "keeper.storage.size=7Gi,keeper.storage.className=fast")
        self.assertEqual(data["persistentVolumeClaim"], {"claimName": "gpupool-keeper"})
        self.assertEqual((claim["spec"]["resources"]["requests"]["storage"], claim["spec"]["storageClassName"]), ("7Gi", "fast"))
        self.assertEqual(claim["metadata"]["annotations"]["helm.sh/resource-policy"], "keep")
        self.assertEqual(volume("--set", "keeper.storage.size="), ({"name": "data", "emptyDir": {}}, []))
        self.assertEqual(volume("--set", "keeper.storage.existingClaim=logs"), ({"name": "data", "persistentVolumeClaim": {"claimName": "logs"}}, []))

    def test_its_flags_are_known(self):
        objects = template(*ON, *WEB)
        for name in ("keeper", "operator", "web"):
            known = set(re.findall(r"--[a-z-]+", output_of(program(f"gpupool-{name}"), "--help")))
            self.assertLessEqual({arg.partition("=")[0] for arg in pod_of(objects, name)["containers"][0]["args"]}, known)
