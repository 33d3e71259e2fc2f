#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What deploy/ lets people do, on a real API server. Usage: TEST_KUBECONFIG=FILE [KUBECTL=FILE] this

Installs the definitions and roles, and from Kubernetes 1.30 on the placement policy while it is tried.
"""

import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(next(p for p in Path(__file__).resolve().parents if (p / "CMakePresets.json").exists()))

from tests.deploy.chart import template  # noqa: E402
from tests.kit import deploy  # noqa: E402
from tests.kit.api import MERGE_PATCH, Api, ApiError  # noqa: E402
from tests.kit.as_user import AsUser  # noqa: E402
from tests.kit.kubectl import apply_definitions, apply_objects, given_kubeconfig, kubectl  # noqa: E402
from tests.kit.manifests import job_manifest, pool_manifest, sweep_manifest  # noqa: E402
from tests.kit.unittests import suite_for_server  # noqa: E402
from tests.kit.waiting import wait_for  # noqa: E402

NAMESPACE = "deploy-people"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
POLICY_SINCE = 30
CONTAINERS = [{"name": "c", "image": "i:1"}]


class PeopleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.admin = Api(given_kubeconfig())
        apply_definitions(given_kubeconfig())
        apply_objects(given_kubeconfig(), deploy.objects("users"))
        if cls.admin.find("namespaces", NAMESPACE) is None:
            cls.admin.create("namespaces", {"metadata": {"name": NAMESPACE}})
        wait_for("the service account", lambda: cls.admin.find("serviceaccounts", "default", NAMESPACE))

    def bind(self, user, role, namespace=None):
        """Until the end of the test."""
        kind = "rolebindings" if namespace else "clusterrolebindings"
        path = RBAC + (f"/namespaces/{namespace}" if namespace else "") + "/" + kind
        name = "deploy-people-" + user.replace(":", "-")
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}
        self.admin.call("POST", path, {"metadata": {"name": name}, "roleRef": reference, "subjects": [
            {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}]})
        self.addCleanup(self.admin.call, "DELETE", f"{path}/{name}")
        return AsUser(self.admin, user)

    def refused(self, words, call, *arguments, **options):
        with self.assertRaises(ApiError) as caught:
            call(*arguments, **options)
        self.assertIn(caught.exception.code, (403, 422), caught.exception)
        self.assertIn(words, caught.exception.message)

    @staticmethod
    def allows(call, *arguments, **options):
        try:
            call(*arguments, **options)
        except ApiError as error:
            if error.code == 403:
                return False
            raise
        return True


class RoleTest(PeopleTest):
    def job(self, name="job"):
        return job_manifest(name, NAMESPACE, "lab")

    def sweep(self):
        return sweep_manifest("sweep", NAMESPACE, "lab", [{"name": "lr", "values": ["0.1"]}])

    def test_renter(self):
        renter = self.bind("renter", "gpupool-renter", NAMESPACE)
        wait_for("the role to be in force", lambda: self.allows(renter.list, "gpujobs", NAMESPACE))
        renter.create("gpujobs", self.job(), dryRun="All")
        renter.create("gpusweeps", self.sweep(), dryRun="All")
        renter.list("gpusweeps", NAMESPACE)
        for kind in ("pods", "jobs", "events"):
            renter.list(kind, NAMESPACE)
        self.admin.create("gpujobs", self.job())
        self.addCleanup(self.admin.delete, "gpujobs", "job", NAMESPACE)
        self.refused("cannot patch", renter.patch, "gpujobs", "job", {"status": {}}, NAMESPACE, "status")
        self.refused("cannot create", renter.create, "pods", {"metadata": {"name": "p", "namespace": NAMESPACE}})
        self.refused("cannot create", renter.create, "gpujobs", {**self.job(), "metadata": {
            "name": "job", "namespace": "default"}})
        for kind in ("nodes", "gpupools", "gpunodes"):
            self.refused("cannot list", renter.list, kind)

    def test_renter_works_with_what_a_job_needs(self):
        renter = self.bind("renter", "gpupool-renter", NAMESPACE)
        wait_for("the role to be in force", lambda: self.allows(renter.list, "gpujobs", NAMESPACE))
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        for kind, content in (("configmaps", {"data": {"a": "b"}}), ("secrets", {"stringData": {"a": "b"}}),
                              ("persistentvolumeclaims", {"spec": claim})):
            with self.subTest(kind):
                path = f"/api/v1/namespaces/{NAMESPACE}/{kind}"
                self.addCleanup(self.admin.call, "DELETE", path + "/mine")
                renter.call("POST", path, {"metadata": {"name": "mine"}, **content})
                renter.call("PATCH", path + "/mine", {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH)
                renter.call("GET", path)
                with self.assertRaises(ApiError) as caught:
                    renter.call("GET", f"/api/v1/namespaces/default/{kind}")
                self.assertEqual(403, caught.exception.code)
        self.admin.create("pods", {"metadata": {"name": "worker", "namespace": NAMESPACE}, "spec": {"containers": CONTAINERS}})
        self.addCleanup(self.admin.delete, "pods", "worker", NAMESPACE, gracePeriodSeconds=0)
        pod = f"/api/v1/namespaces/{NAMESPACE}/pods/worker"
        for what in ("/log", "/exec?command=true", "/portforward?ports=1"):
            for method in ("GET",) if what == "/log" else ("GET", "POST"):
                with self.subTest(method=method, what=what):  # the pod is on no node, so nobody goes further than this
                    self.assertTrue(self.allows_or_fails(renter.call, method, pod + what))
        with self.assertRaises(ApiError) as caught:
            renter.call("DELETE", pod)
        self.assertEqual(403, caught.exception.code)

    @staticmethod
    def allows_or_fails(call, *arguments):
        """Whether it is not forbidden."""
        try:
            call(*arguments)
        except ApiError as error:
            return error.code != 403
        return True

    def test_viewer(self):
        viewer = self.bind("viewer", "gpupool-viewer")
        wait_for("the role to be in force", lambda: self.allows(viewer.list, "gpujobs"))
        viewer.list("gpusweeps")
        self.refused("cannot create", viewer.create, "gpujobs", self.job())
        self.refused("cannot create", viewer.create, "gpusweeps", self.sweep())
        for kind in ("gpupools", "gpunodes"):
            self.refused("cannot list", viewer.list, kind)

    def test_viewer_of_pools(self):
        viewer = self.bind("pool-viewer", "gpupool-pool-viewer")
        wait_for("the role to be in force", lambda: self.allows(viewer.list, "gpupools"))
        viewer.list("gpunodes")
        self.refused("cannot list", viewer.list, "gpujobs", NAMESPACE)
        self.refused("cannot create", viewer.create, "gpupools", pool_manifest("p", {"a": "b"}))

    def test_pools_can_be_shown_to_everybody_who_can_log_in(self):
        anybody = AsUser(self.admin, "anybody")  # the API server adds system:authenticated
        self.refused("cannot list", anybody.list, "gpupools")
        bound = [item for item in template("--set", "rbac.poolViewers={system:authenticated}")
                 if item["kind"] == "ClusterRoleBinding" and item["metadata"]["name"] == "gpupool-pool-viewer"]
        apply_objects(given_kubeconfig(), bound)
        self.addCleanup(self.admin.call, "DELETE", RBAC + "/clusterrolebindings/gpupool-pool-viewer")
        wait_for("the role to be in force", lambda: self.allows(anybody.list, "gpupools"))
        anybody.list("gpunodes")
        self.refused("cannot list", anybody.list, "gpujobs", NAMESPACE)

    def test_owner(self):
        owner = self.bind("owner", "gpupool-owner")
        wait_for("the role to be in force", lambda: self.allows(owner.list, "gpupools"))
        owner.create("gpupools", pool_manifest("p", {"a": "b"}), dryRun="All")
        owner.list("gpujobs")
        owner.list("gpusweeps")
        self.refused("cannot create", owner.create, "gpusweeps", self.sweep())
        self.refused("cannot create", owner.create, "gpujobs", self.job())
        self.admin.create("nodes", {"metadata": {"name": "deploy-people"}})
        self.addCleanup(self.admin.delete, "nodes", "deploy-people")
        label = {"metadata": {"labels": {"gpupool.dev.node-restriction.kubernetes.io/pool": "p"}}}
        owner.patch("nodes", "deploy-people", label)
        self.refused("cannot delete", owner.delete, "nodes", "deploy-people", missing_ok=False)
        self.refused("cannot patch", owner.patch, "nodes", "deploy-people", {"status": {}}, sub="status")
        self.refused("cannot list", owner.list, "pods", NAMESPACE)

    def test_what_kubernetes_own_roles_gain(self):
        gained = {"view": lambda user: user.list("gpujobs", NAMESPACE),
                  "edit": lambda user: user.create("gpujobs", self.job(), dryRun="All"),
                  "admin": lambda user: user.create("gpujobs", self.job(), dryRun="All")}
        for role, does in gained.items():
            user = self.bind("has-" + role, role, NAMESPACE)
            wait_for(f"the role {role} to have it", lambda does=does, user=user: self.allows(does, user))
            self.refused("cannot patch", user.patch, "gpujobs", "job", {"status": {}}, NAMESPACE, "status")
        self.refused("cannot create", AsUser(self.admin, "has-view").create, "gpujobs", self.job())


class PlacementTest(PeopleTest):
    """The policy, for a user who may make every kind of workload in his namespace."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = os.path.join(deploy.MANIFESTS, "placement-admission.yaml")
        kubectl(given_kubeconfig(), "apply", "-f", path)
        cls.addClassCleanup(kubectl, given_kubeconfig(), "delete", "-f", path)

    def setUp(self):
        self.user = self.bind("developer", "edit", NAMESPACE)
        wait_for("the role to be in force", lambda: self.allows(self.user.list, "pods", NAMESPACE))
        wait_for("the policy to be in force", lambda: not self.accepted(self.user, "pods", nodeName="n"))

    def body(self, kind, spec):
        meta = {"name": "x", "namespace": NAMESPACE}
        template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": CONTAINERS, **spec}}
        if kind == "pods":
            return {"metadata": meta, "spec": template["spec"]}
        if kind == "jobs":
            template["spec"]["restartPolicy"] = "Never"
            return {"metadata": meta, "spec": {"template": template}}
        more = {"serviceName": "x"} if kind == "statefulsets" else {}
        return {"metadata": meta, "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template, **more}}

    def accepted(self, user, kind, **spec):
        try:
            user.create(kind, self.body(kind, spec), dryRun="All")
        except ApiError as error:
            self.assertIn("gpupool-placement", error.message)
            return False
        return True

    def test_what_goes_past_leases_is_refused(self):
        blanket, ours = [{"operator": "Exists"}], [{"key": "gpupool.dev/lease", "operator": "Exists"}]
        cases = {"nodeName": {"nodeName": "n"}, "blanket": {"tolerations": blanket},
                 "blanket of NoSchedule": {"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]},
                 "lease": {"tolerations": ours},
                 "pool": {"tolerations": [{"key": "gpupool.dev/pool", "value": "lab"}]}}
        for kind in ("pods", "jobs", "statefulsets", "daemonsets"):
            for what, spec in cases.items():
                with self.subTest(kind=kind, what=what):
                    self.assertFalse(self.accepted(self.user, kind, **spec))

    def test_what_does_not_is_not(self):
        for kind in ("pods", "jobs", "statefulsets", "daemonsets"):
            with self.subTest(kind=kind):
                self.assertTrue(self.accepted(self.user, kind))
                self.assertTrue(self.accepted(self.user, kind, tolerations=[
                    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute"},
                    {"operator": "Exists", "effect": "NoExecute"}]))

    def test_gpupool_itself_and_the_cluster_go_on(self):
        spec = {"tolerations": [{"key": "gpupool.dev/lease", "operator": "Equal", "value": "uid.1"}]}
        for user in ("system:serviceaccount:gpupool-system:gpupool-operator",
                     "system:serviceaccount:kube-system:job-controller"):
            named = self.bind(user, "edit", NAMESPACE)
            wait_for("the role to be in force", lambda named=named: self.allows(named.list, "pods", NAMESPACE))
            for kind in ("jobs", "statefulsets", "pods"):
                self.assertTrue(self.accepted(named, kind, **spec))

    def test_workers_can_still_be_annotated(self):
        pod = self.body("pods", {"tolerations": [{"key": "gpupool.dev/lease", "operator": "Exists"}]})
        self.admin.create("pods", pod)
        self.addCleanup(self.admin.delete, "pods", "x", NAMESPACE, gracePeriodSeconds=0)
        self.user.patch("pods", "x", {"metadata": {"annotations": {"note": "mine"}}}, NAMESPACE)
        more = self.admin.get("pods", "x", NAMESPACE)["spec"]["tolerations"] + [{"operator": "Exists"}]
        self.refused("gpupool-placement", self.user.patch, "pods", "x", {"spec": {"tolerations": more}}, NAMESPACE)


def load_tests(loader, _tests, _pattern):
    return suite_for_server(loader, [RoleTest], PlacementTest, "The placement policy is", Api(given_kubeconfig()).minor(), POLICY_SINCE)


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # connections live as long as their objects
