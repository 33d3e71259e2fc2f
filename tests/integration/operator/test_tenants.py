# SPDX-License-Identifier: Apache-2.0
"""What a user who may only write GpuJobs in one namespace can reach by them. docs/security.md has the same table."""

from tests.kit.api import ApiError
from tests.kit.as_user import AsUser
from tests.kit.jobs import JobHandle
from tests.kit.manifests import job_manifest
from tests.kit.names import LEASE, MEMBER_LABEL
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for

RBAC = "/apis/rbac.authorization.k8s.io/v1"
LOOPBACK = {"httpGet": {"host": "127.0.0.1", "port": 10255}}


def pod(**changes):
    return {"containers": [{"name": "w", "image": "i:1", "command": ["true"]}], **changes}


def worker(**changes):
    return {"containers": [{"name": "w", "image": "i:1", "command": ["true"], **changes}]}


def context(**changes):
    return worker(securityContext=changes)


def sidecar(**changes):
    return {"containers": [*worker()["containers"], {"name": "s", "image": "i:1", **changes}]}


def affinity(key):
    rule = {"key": key, "operator": "Exists"}
    return pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [rule]}]}}})


GPU = {"limits": {"nvidia.com/gpu": "1"}}

# Field -> (spec of the pod, part of the message).
REFUSED = {
    "hostNetwork": (pod(hostNetwork=True), "hostNetwork"),
    "hostPID": (pod(hostPID=True), "hostPID"),
    "hostIPC": (pod(hostIPC=True), "hostIPC"),
    "hostPath": (pod(volumes=[{"name": "v", "hostPath": {"path": "/"}}]), "hostPath of v"),
    "hostPort": (worker(ports=[{"containerPort": 80, "hostPort": 80}]), "hostPort"),
    "privileged": (context(privileged=True), "privileged"),
    "privileged sidecar": (sidecar(securityContext={"privileged": True}), "containers[1].securityContext.privileged"),
    "privileged init container": (pod(initContainers=[{"name": "i", "image": "i:1", "command": ["true"],
                                                       "securityContext": {"privileged": True}}]),
                                  "initContainers[0].securityContext.privileged"),
    "capabilities": (context(capabilities={"add": ["SYS_ADMIN"]}), "SYS_ADMIN"),
    "procMount": (context(procMount="Unmasked"), "procMount"),
    "seccompProfile": (pod(securityContext={"seccompProfile": {"type": "Unconfined"}}), "seccompProfile"),
    "seLinuxOptions": (context(seLinuxOptions={"type": "spc_t"}), "seLinuxOptions"),
    "sysctls": (pod(securityContext={"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}), "kernel.msgmax"),
    "probe of the node's own network": (worker(readinessProbe=LOOPBACK), "probes: host"),
    "hook of the node's own network": (sidecar(lifecycle={"postStart": LOOPBACK}), "lifecycle: host"),
    "priorityClassName": (pod(priorityClassName="system-node-critical"), "priorityClassName"),
    "priority": (pod(priority=2000000000), "priorityClassName"),
    "nodeName": (pod(nodeName="other"), "spec.nodeName"),
    "nodeSelector of ours": (pod(nodeSelector={MEMBER_LABEL: "uid"}), "gpupool.dev"),
    "affinity of ours": (affinity(MEMBER_LABEL), "gpupool.dev"),
    "toleration of everything": (pod(tolerations=[{"operator": "Exists"}]), "toleration without a key"),
    "toleration of leases": (pod(tolerations=[{"key": LEASE, "operator": "Exists"}]), LEASE),
    "toleration of pools": (pod(tolerations=[{"key": "gpupool.dev/pool", "operator": "Exists"}]), "gpupool.dev/pool"),
    "GPUs of a sidecar": (sidecar(resources=GPU), "only the worker has GPUs"),
    "GPUs of an init container": (pod(initContainers=[{"name": "i", "image": "i:1", "resources": GPU}]),
                                  "only the worker has GPUs"),
    "slices beside GPUs": (worker(resources={"limits": {"gpupool.dev/vgpu": "1"}}), "only the worker has GPUs"),
    "resourceClaims": (pod(resourceClaims=[{"name": "gpu"}]), "resourceClaims"),
    "NVIDIA_VISIBLE_DEVICES": (worker(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]), "NVIDIA_VISIBLE"),
    "NVIDIA_VISIBLE_DEVICES of a sidecar": (sidecar(env=[{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}]),
                                            "containers[1].env"),
    "CUDA_DEVICE_MEMORY_LIMIT": (worker(env=[{"name": "CUDA_DEVICE_MEMORY_LIMIT_0", "value": "99g"}]), "CUDA_DEVICE"),
    "GPUPOOL_LIMITS": (worker(env=[{"name": "GPUPOOL_LIMITS", "value": "/x"}]), "GPUPOOL_LIMITS"),
    "mount over the launcher": (worker(volumeMounts=[{"name": "v", "mountPath": "/gpupool/x"}]), "/gpupool"),
    "volume of the launcher": (pod(volumes=[{"name": "gpupool-launcher", "emptyDir": {}}]), "gpupool-launcher"),
    "activeDeadlineSeconds": (pod(activeDeadlineSeconds=1), "activeDeadlineSeconds"),
}
ANNOTATIONS = {
    "container.apparmor.security.beta.kubernetes.io/w": "unconfined",
    "seccomp.security.alpha.kubernetes.io/pod": "unconfined",
    "cdi.k8s.io/gpus": "nvidia.com/gpu=all",
    "gpupool.dev/nudged": "now",
}
# What has the wrong shape must not be found out when nodes are taken.
SHAPES = {
    "affinity": pod(affinity="x"), "nodeAffinity": pod(affinity={"nodeAffinity": []}),
    "terms": pod(affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": ["x"]}}}),
    "tolerations": pod(tolerations="x"), "volumes": pod(volumes={"a": "b"}), "env": worker(env={"a": "b"}),
    "resources": worker(resources="x"), "limits": worker(resources={"limits": []}),
    "hostNetwork": pod(hostNetwork="yes"), "securityContext": context(privileged="yes"),
}


class FieldTest(FakeClusterCase):
    def check_refused(self, name, template, text):
        job = self.submit(name, template=template)
        status = job.wait_reason("InvalidTemplate")
        self.assertIn(text, status["message"])
        self.assertEqual([], job.pods())
        job.delete()

    def test_fields_that_are_refused(self):
        for number, (field, (spec, text)) in enumerate(REFUSED.items()):
            with self.subTest(field=field):
                self.check_refused(f"field-{number}", {"spec": spec}, text)

    def test_annotations_and_labels_that_are_refused(self):
        for number, (key, value) in enumerate(ANNOTATIONS.items()):
            with self.subTest(annotation=key):
                self.check_refused(f"annotation-{number}", {"metadata": {"annotations": {key: value}}, "spec": pod()},
                                   key)
        for number, key in enumerate((LEASE, "gpupool.dev/job-uid", MEMBER_LABEL)):
            with self.subTest(label=key):
                self.check_refused(f"label-{number}", {"metadata": {"labels": {key: "x"}}, "spec": pod()}, key)

    def test_shapes_that_are_refused_before_a_node_is_taken(self):
        for number, (what, spec) in enumerate(SHAPES.items()):
            with self.subTest(shape=what):
                job = self.submit(f"shape-{number}", template={"spec": spec})
                job.wait_reason("InvalidTemplate")
                self.assertEqual(0, job.status().get("leaseSequence", 0))
        self.submit("null-requests", template={"spec": worker(resources={"requests": None})}).wait_phase("Running")

    def test_fields_that_are_dropped_or_overridden(self):
        victim = self.api.create("configmaps", {"metadata": {"name": "victim", "namespace": self.namespace}})
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "victim", "uid": victim["metadata"]["uid"],
                 "controller": True, "blockOwnerDeletion": True}
        meta = {"namespace": "kube-system", "name": "chosen", "generateName": "chosen-", "finalizers": ["test/stay"],
                "ownerReferences": [owner], "labels": {"statefulset.kubernetes.io/pod-name": "x", "mine": "1"}}
        spec = pod(restartPolicy="OnFailure", hostname="chosen", subdomain="chosen", terminationGracePeriodSeconds=0)
        for gpus in (1, 2):
            job = self.submit(f"dropped-{gpus}", gpus=gpus, template={"metadata": meta, "spec": spec})
            job.wait_phase("Running")
            for made in job.pods():
                with self.subTest(gpus=gpus):
                    self.assertEqual(self.namespace, made["metadata"]["namespace"])
                    self.assertTrue(made["metadata"]["name"].startswith(f"dropped-{gpus}-1-"))
                    self.assertNotIn("test/stay", made["metadata"]["finalizers"])
                    self.assertEqual(["Job" if gpus == 1 else "StatefulSet"],
                                     [o["kind"] for o in made["metadata"]["ownerReferences"]])
                    self.assertEqual("1", made["metadata"]["labels"]["mine"])
                    self.assertIn(made["spec"]["restartPolicy"], ("Never", "Always"))
                    self.assertGreater(made["spec"]["terminationGracePeriodSeconds"], 0)

    def test_ephemeral_containers_are_refused_or_dropped_by_the_server(self):
        job = self.submit("ephemeral", template={"spec": pod(ephemeralContainers=[{"name": "e", "image": "i:1"}])})
        job.wait("an answer", lambda s: s.get("phase") == "Running" or s.get("reason") == "TemplateRefused")
        self.assertEqual([], [p for p in job.pods() if p["spec"].get("ephemeralContainers")])

    def test_a_pool_may_allow_what_reaches_the_node(self):
        job = self.submit("trusted", template={"spec": pod(hostNetwork=True)})
        job.wait_reason("InvalidTemplate")
        self.api.patch("gpupools", self.pool, {"spec": {"podSecurity": "Privileged"}})
        job.wait_phase("Running")
        self.assertTrue(job.pods()[0]["spec"]["hostNetwork"])

    def test_what_the_namespace_has_is_within_reach(self):
        """Here the border is: secrets and accounts of the namespace are the job's, as they are any pod's there."""
        self.api.create("serviceaccounts", {"metadata": {"name": "other", "namespace": self.namespace}})
        volumes = [{"name": "s", "secret": {"secretName": "s", "optional": True}},
                   {"name": "t", "projected": {"sources": [{"serviceAccountToken": {"path": "t"}}]}}]
        job = self.submit("near", template={"spec": pod(serviceAccountName="default", volumes=volumes)})
        job.wait_phase("Running")


class RenterTest(FakeClusterCase):
    """As a user with the rights of a renter and no others."""

    ROLE = "gpupool-integration-renter"

    def setUp(self):
        super().setUp()
        name = {"metadata": {"name": self.ROLE}}
        self.api.call("POST", f"{RBAC}/namespaces/{self.namespace}/roles", {**name, "rules": [
            {"apiGroups": ["gpupool.dev"], "resources": ["gpujobs"], "verbs": ["*"]}]})
        self.api.call("POST", f"{RBAC}/namespaces/{self.namespace}/rolebindings", {
            **name, "subjects": [{"kind": "User", "name": "renter", "apiGroup": "rbac.authorization.k8s.io"}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": self.ROLE}})
        self.renter = AsUser(self.api, "renter")
        wait_for("the role to be in force", self.may_list)

    def may_list(self):
        try:
            return self.renter.list("gpujobs", self.namespace) == []
        except ApiError as error:
            if error.code != 403:
                raise
            return False

    def refused(self, call, *arguments, **options):
        with self.assertRaises(ApiError) as caught:
            call(*arguments, **options)
        self.assertEqual(403, caught.exception.code)

    def manifest(self, name, **options):
        return job_manifest(name, self.namespace, self.pool, **options)

    def test_nothing_but_jobs(self):
        job = self.manifest("far")
        job["metadata"]["namespace"] = "default"
        self.refused(self.renter.create, "gpujobs", job)
        self.refused(self.renter.create, "pods", {"metadata": {"name": "p", "namespace": self.namespace}})
        self.refused(self.renter.list, "nodes")
        self.refused(self.renter.patch, "gpupools", self.pool, {"spec": {"podSecurity": "Privileged"}})
        self.renter.create("gpujobs", self.manifest("mine", suspend=True))
        self.refused(self.renter.patch, "gpujobs", "mine", {"status": {"phase": "Succeeded"}}, self.namespace, "status")

    def test_forged_lease_is_none(self):
        held = self.submit("held")
        held.wait_phase("Running")
        forged = self.manifest("forged", suspend=True)
        forged["status"] = {"phase": "Running", "lease": held.lease()}
        forged["metadata"].update(labels={"gpupool.dev/job-uid": held.read()["metadata"]["uid"]},
                                  finalizers=["gpupool.dev/lease"])
        self.renter.create("gpujobs", forged)
        job = JobHandle(self.api, "forged", self.namespace)
        job.wait_phase("Suspended")
        self.renter.patch("gpujobs", "forged", {"status": {"lease": held.lease()}}, self.namespace)
        self.assertIsNone(job.lease())
        self.renter.delete("gpujobs", "forged", self.namespace)
        job.wait_gone()
        self.assertEqual(("Running", 1), (held.phase(), held.status()["attempts"]))

    def test_job_without_its_finalizer_frees_no_node_before_its_workers_have_ended(self):
        self.renter.create("gpujobs", self.manifest("cut", pod={"terminationGracePeriodSeconds": 5}))
        job = JobHandle(self.api, "cut", self.namespace)
        job.wait_phase("Running")
        node = job.nodes()[0]
        self.kubelet.dead.add(node)  # its processes do not end yet
        # In this order: the operator puts its finalizer back on a job that nobody deletes.
        self.renter.delete("gpujobs", "cut", self.namespace)
        self.renter.patch("gpujobs", "cut", {"metadata": {"finalizers": None}}, self.namespace)
        job.wait_gone()
        wait_for("its worker to be told to end", lambda: all("deletionTimestamp" in p["metadata"] for p in job.pods()))
        holds_for("the node stays taken", lambda: any(node in trace for trace in self.nodes.traces()), 3)
        self.kubelet.dead.clear()
        wait_for("the node to be free", lambda: not self.nodes.traces(), detail=lambda: str(self.nodes.traces()))
