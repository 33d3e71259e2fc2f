#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What deploy/ lets a device plugin do, on a real API server. Usage: TEST_KUBECONFIG=FILE [KUBECTL=FILE] this

Installs the definitions and the plugin's rights, and leaves them installed. From Kubernetes 1.30 on, tokens name the
node of their pod, and the admission policy is tried too.
"""

import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(next(p for p in Path(__file__).resolve().parents if (p / "CMakePresets.json").exists()))

from tests.kit import deploy  # noqa: E402
from tests.kit.api import Api, ApiError  # noqa: E402
from tests.kit.kubectl import apply_definitions, apply_objects, given_kubeconfig, kubectl  # noqa: E402
from tests.kit.unittests import suite_for_server  # noqa: E402
from tests.kit.waiting import wait_for  # noqa: E402

NAMESPACE, ACCOUNT = "gpupool-system", "gpupool-device-plugin"
NODES = ["deploy-test-a", "deploy-test-b"]
POLICY_SINCE = 30


class AsPlugin(Api):
    """Calls with the token of the plugin's pod on a node; without one, with a token that belongs to no pod."""

    def __init__(self, admin, node=None):
        super().__init__(admin.path)
        path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{ACCOUNT}/token"
        body = {"spec": {"boundObjectRef": self.make_pod(admin, node)} if node else {}}
        self._token = admin.call("POST", path, body)["status"]["token"]

    @staticmethod
    def make_pod(admin, node):
        pod = {"metadata": {"name": "plugin-on-" + node, "namespace": NAMESPACE},
               "spec": {"nodeName": node, "serviceAccountName": ACCOUNT,
                        "containers": [{"name": "c", "image": "none:1"}]}}
        uid = admin.create("pods", pod)["metadata"]["uid"]
        return {"kind": "Pod", "apiVersion": "v1", "name": pod["metadata"]["name"], "uid": uid}


class DeployTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.admin = Api(given_kubeconfig())
        apply_definitions(given_kubeconfig())
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
        apply_objects(given_kubeconfig(), [namespace, *deploy.objects("device-plugin", "ServiceAccount", "ClusterRole",
                                                                "ClusterRoleBinding")])
        wait_for("the service account", lambda: cls.admin.find("serviceaccounts", ACCOUNT, NAMESPACE))
        cls.clean()
        cls.addClassCleanup(cls.clean)
        for node in NODES:
            cls.admin.create("nodes", {"metadata": {"name": node}})

    @classmethod
    def clean(cls):
        for node in NODES:
            cls.admin.delete("pods", "plugin-on-" + node, NAMESPACE, gracePeriodSeconds=0)
            cls.admin.delete("gpunodes", node)
            cls.admin.delete("nodes", node)

    def refused(self, words, call, *arguments, **options):
        with self.assertRaises(ApiError) as caught:
            call(*arguments, **options)
        self.assertIn(caught.exception.code, (403, 422), caught.exception)  # RBAC, a policy
        self.assertIn(words, caught.exception.message)


class RightsTest(DeployTest):
    def setUp(self):
        self.plugin = AsPlugin(self.admin, NODES[0])
        self.addCleanup(self.clean_objects)

    def clean_objects(self):
        self.admin.delete("pods", "plugin-on-" + NODES[0], NAMESPACE, gracePeriodSeconds=0)
        self.admin.delete("gpunodes", NODES[0])

    def test_it_may_report_its_node(self):
        self.plugin.get("nodes", NODES[0])
        self.plugin.create("gpunodes", {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuNode",
                                        "metadata": {"name": NODES[0]}})
        self.plugin.patch("gpunodes", NODES[0], {"metadata": {"labels": {"a": "b"}}})
        self.plugin.patch("gpunodes", NODES[0], {"status": {"message": "text"}}, sub="status")
        self.assertEqual("text", self.plugin.get("gpunodes", NODES[0])["status"]["message"])

    def test_it_may_do_nothing_else(self):
        for kind, namespace in (("nodes", None), ("gpunodes", None), ("pods", None), ("configmaps", NAMESPACE),
                                ("gpujobs", None), ("gpupools", None), ("leases", NAMESPACE), ("events", NAMESPACE)):
            with self.subTest(list=kind):
                self.refused("cannot list", self.plugin.list, kind, namespace)
        label = {"metadata": {"labels": {"gpupool.dev.node-restriction.kubernetes.io/pool": "mine"}}}
        self.refused("cannot patch", self.plugin.patch, "nodes", NODES[0], label)
        self.refused("cannot patch", self.plugin.patch, "nodes", NODES[0], {"status": {}}, sub="status")
        self.refused("cannot delete", self.plugin.delete, "gpunodes", NODES[0], missing_ok=False)
        self.refused("cannot create", self.plugin.create, "pods",
                     {"metadata": {"name": "p", "namespace": NAMESPACE}, "spec": {"containers": []}})


class PolicyTest(DeployTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        kubectl(given_kubeconfig(), "apply", "-f", os.path.join(deploy.MANIFESTS, "admission.yaml"))
        cls.plugins = {node: AsPlugin(cls.admin, node) for node in NODES}

    def object(self, node):
        return {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuNode", "metadata": {"name": node}}

    def in_force(self):
        """A policy takes a moment to reach every API server."""
        try:
            self.plugins[NODES[0]].create("gpunodes", self.object(NODES[1]), dryRun="All")
        except ApiError:
            return True
        return False

    def test_each_plugin_writes_its_own_node_only(self):
        wait_for("the policy to be in force", self.in_force)
        first, second = NODES
        words = f"the device plugin of node {first} may not write the GpuNode {second}"
        self.refused(words, self.plugins[first].create, "gpunodes", self.object(second))
        for node in NODES:
            self.plugins[node].create("gpunodes", self.object(node))
        self.refused(words, self.plugins[first].patch, "gpunodes", second, {"metadata": {"labels": {"a": "b"}}})
        self.refused(words, self.plugins[first].patch, "gpunodes", second, {"status": {"message": "x"}}, sub="status")
        self.plugins[second].patch("gpunodes", second, {"status": {"message": "mine"}}, sub="status")
        self.admin.patch("gpunodes", second, {"metadata": {"labels": {"by": "admin"}}})

    def test_a_token_without_a_node_is_refused(self):
        wait_for("the policy to be in force", self.in_force)
        self.refused("names no node", AsPlugin(self.admin).create, "gpunodes", self.object(NODES[0]), dryRun="All")


def load_tests(loader, _tests, _pattern):
    return suite_for_server(loader, [RightsTest], PolicyTest, "The admission policy is", Api(given_kubeconfig()).minor(), POLICY_SINCE)


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # connections live as long as their objects
