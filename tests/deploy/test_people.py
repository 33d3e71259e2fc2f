#!/usr/bin/python3
"""What deploy/ lets people do, on a real API server. Usage: TEST_KUBECONFIG=FILE [KUBECTL=FILE] this

Installs the definitions and roles, and from Kubernetes 1.30 on the placement policy while it is tried.
"""

import os
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))

from support import deploy  # noqa: E402
from support.api import Api, ApiError  # noqa: E402
from support.as_user import AsUser  # noqa: E402
from support.cluster import apply_definitions, apply_objects, kubectl  # noqa: E402
from support.jobs import job_manifest, pool_manifest  # noqa: E402
from support.waiting import wait_for  # noqa: E402

NAMESPACE = "deploy-people"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
POLICY_SINCE = 30
CONTAINERS = [{"name": "c", "image": "i:1"}]


def kubeconfig():
    path = os.environ.get("TEST_KUBECONFIG")
    if not path:
        raise RuntimeError("TEST_KUBECONFIG must name the kubeconfig of a cluster for tests")
    return path


class PeopleTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.admin = Api(kubeconfig())
        apply_definitions(kubeconfig())
        apply_objects(kubeconfig(), deploy.objects("users"))
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

    def test_renter(self):
        renter = self.bind("renter", "gpupool-renter", NAMESPACE)
        wait_for("the role to be in force", lambda: self.allows(renter.list, "gpujobs", NAMESPACE))
        renter.create("gpujobs", self.job(), dryRun="All")
        renter.list("pods", NAMESPACE)
        self.admin.create("gpujobs", self.job())
        self.addCleanup(self.admin.delete, "gpujobs", "job", NAMESPACE)
        self.refused("cannot patch", renter.patch, "gpujobs", "job", {"status": {}}, NAMESPACE, "status")
        self.refused("cannot create", renter.create, "pods", {"metadata": {"name": "p", "namespace": NAMESPACE}})
        self.refused("cannot create", renter.create, "gpujobs", {**self.job(), "metadata": {
            "name": "job", "namespace": "default"}})
        for kind in ("nodes", "gpupools", "gpunodes"):
            self.refused("cannot list", renter.list, kind)

    def test_viewer(self):
        viewer = self.bind("viewer", "gpupool-viewer")
        wait_for("the role to be in force", lambda: self.allows(viewer.list, "gpupools"))
        viewer.list("gpunodes")
        viewer.list("gpujobs")
        self.refused("cannot create", viewer.create, "gpujobs", self.job())
        self.refused("cannot create", viewer.create, "gpupools", pool_manifest("p", {"a": "b"}))

    def test_owner(self):
        owner = self.bind("owner", "gpupool-owner")
        wait_for("the role to be in force", lambda: self.allows(owner.list, "gpupools"))
        owner.create("gpupools", pool_manifest("p", {"a": "b"}), dryRun="All")
        owner.list("gpujobs")
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
        kubectl(kubeconfig(), "apply", "-f", path)
        cls.addClassCleanup(kubectl, kubeconfig(), "delete", "-f", path)

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
    cases = [RoleTest]
    minor = Api(kubeconfig()).minor()
    if minor >= POLICY_SINCE:
        cases.append(PlacementTest)
    else:
        print(f"The placement policy is not among these tests: Kubernetes 1.{minor} has none, 1.{POLICY_SINCE} is the "
              "first.", file=sys.stderr)
    return unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)


if __name__ == "__main__":
    unittest.main(warnings="ignore")  # connections live as long as their objects
