# SPDX-License-Identifier: Apache-2.0
"""Bad input is told on the object, clears when it is mended, and stops nobody else."""

from tests.kit.api import ApiError
from tests.kit.manifests import job_manifest, pool_manifest, shell
from tests.kit.names import POOL_LABEL
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import holds_for, wait_for

COMMAND = ["true"]


def pod(**changes):
    return {"containers": [{"name": "w", "image": "i:1", "command": COMMAND}], **changes}


def container(**changes):
    return {"containers": [{"name": "w", "image": "i:1", "command": COMMAND, **changes}]}


# What is wrong -> (pod spec, part of the message). The operator sees these itself, before it takes a node.
BAD_TEMPLATES = {
    "no command": ({"containers": [{"name": "w", "image": "i:1"}]}, "containers[0].command"),
    "no container": ({"containers": []}, "needs a container"),
    "RANK": (container(env=[{"name": "RANK", "value": "7"}]), "environment variable RANK"),
    "MASTER_ADDR": (container(env=[{"name": "MASTER_ADDR", "value": "x"}]), "environment variable MASTER_ADDR"),
    "PET_": (container(env=[{"name": "PET_NNODES", "value": "x"}]), "environment variable PET_NNODES"),
    "node name": (pod(nodeName="n"), "spec.nodeName"),
    "toleration of everything": (pod(tolerations=[{"operator": "Exists"}]), "toleration without a key"),
    "our toleration": (pod(tolerations=[{"key": "gpupool.dev/lease", "operator": "Exists"}]), "gpupool.dev/lease"),
    "our node label": (pod(nodeSelector={"gpupool.dev/x": "y"}), "gpupool.dev"),
    "liveness probe": (container(livenessProbe={"exec": {"command": COMMAND}}), "livenessProbe"),
    "lifecycle hook": (container(lifecycle={"preStop": {"exec": {"command": COMMAND}}}), "lifecycle"),
    "our volume": (pod(volumes=[{"name": "gpupool-launcher", "emptyDir": {}}]), "gpupool-launcher"),
    "our mount": (container(volumeMounts=[{"name": "v", "mountPath": "/gpupool"}]), "/gpupool"),
    "GPUs in the template": (container(resources={"limits": {"nvidia.com/gpu": "4"}}), "nvidia.com/gpu"),
    "wrong type": ({"containers": "w"}, "spec.template"),
}


class BadTemplateTest(FakeClusterCase):
    def test_templates_that_the_operator_refuses(self):
        for number, (what, (spec, text)) in enumerate(BAD_TEMPLATES.items()):
            with self.subTest(what=what):
                job = self.submit(f"bad-{number}", template={"spec": spec})
                status = job.wait_reason("InvalidTemplate")
                self.assertIn(text, status["message"])
                self.assertEqual(("Invalid", "True"), (job.phase(), job.condition("Stalled")))
                self.assertIsNone(job.lease())
        good = self.submit("good")
        good.wait_phase("Running")

    def test_unknown_fields(self):
        """The API server would drop them without a word."""
        cases = {
            "spec.containers[0].comand": container(comand=["true"]),
            "spec.containers[0].resources.limit": container(resources={"limit": {"cpu": 1}}),
            "spec.volumes[0].emptyDir.mediun": pod(volumes=[{"name": "v", "emptyDir": {"mediun": "Memory"}}]),
            "spec.hostNetwrok": pod(hostNetwrok=True)}
        for number, (field, spec) in enumerate(cases.items()):
            status = self.submit(f"unknown-{number}", template={"spec": spec}).wait_phase("Invalid")
            self.assertEqual(("InvalidTemplate", f"spec.template.{field}: unknown field"), (status["reason"], status["message"]))
        meta = self.submit("meta", template={"metadata": {"lables": {"a": "b"}}, "spec": container()})
        self.assertIn("spec.template.metadata.lables: unknown field", meta.wait_phase("Invalid")["message"])
        self.restart_operator()
        spec = pod(volumes=[{"name": "v", "emptyDir": {"medium": "Memory"}}], dnsConfig={"options": [{"name": "ndots"}]}, affinity={
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}}]}})
        self.submit("known", template={"metadata": {"labels": {"a": "b"}}, "spec": spec}).wait("a lease", lambda s: s.get("lease"))
        self.assertEqual("Invalid", meta.phase(), "a new operator lets it run")

    def test_stall_clears_when_the_template_is_mended(self):
        job = self.submit("mended", template={"spec": {"containers": [{"name": "w", "image": "i:1"}]}})
        job.wait_reason("InvalidTemplate")
        job.patch(template={"spec": container()})
        job.wait_phase("Running")
        self.assertEqual("False", job.condition("Stalled"))

    def test_template_that_the_api_server_refuses(self):
        """gpupool does not check every field of a pod; the API server does."""
        for gpus in (1, 2):
            with self.subTest(gpus=gpus):
                bad = {"spec": container(imagePullPolicy="Sometimes")}
                job = self.submit(f"refused-{gpus}", template=bad, gpus=gpus)
                status = job.wait_condition("Stalled")
                self.assertEqual("TemplateRefused", status["reason"])
                self.assertIn("Sometimes", status["message"])
                job.wait("no lease", lambda s: not s.get("lease"))
                self.assertEqual("Invalid", job.phase())
                wait_for("the nodes to be given back", lambda: not self.nodes.traces(),
                         detail=lambda: str(self.nodes.traces()))
                sequence = job.status().get("leaseSequence")
                holds_for("no node is taken for a template known to be refused", lambda: not self.nodes.traces(), 3)
                self.assertEqual(sequence, job.status().get("leaseSequence"))
                job.patch(template={"spec": container(imagePullPolicy="IfNotPresent")})
                job.wait_phase("Running")
                self.assertEqual("False", job.condition("Stalled"))
                job.delete()
                job.wait_gone()

    def test_name_too_long_for_children(self):
        with self.assertRaises(ApiError) as caught:
            self.submit("a" * 46)
        self.assertEqual(422, caught.exception.code)
        self.submit("a" * 45, gpus=2).wait_phase("Running")

    def test_name_that_begins_with_a_digit(self):
        """The Service of a gang has a letter before it: its name is a DNS-1035 label."""
        self.submit("2024-resnet").wait_phase("Running")
        gang = self.submit("2024", gpus=2)
        status = gang.wait_phase("Running")
        self.assertEqual("2024-1-0.j-2024-1", status["master"])
        self.assertIsNotNone(self.api.find("services", "j-2024-1", self.namespace))
        self.finish(gang, ranks=(0, 1))
        gang.wait_condition("Complete")

    def test_workers_that_do_not_divide(self):
        """Newer API servers refuse it at once; on older ones the operator does."""
        try:
            job = self.submit_manifest(job_manifest("uneven", self.namespace, self.pool, gpus=3, gpusPerWorker=2))
        except ApiError as error:
            self.assertEqual(422, error.code)
            self.assertIn("multiple of gpusPerWorker", error.message)
            return
        status = job.wait_reason("InvalidSpec")
        self.assertIn("multiple of spec.gpusPerWorker", status["message"])
        self.assertEqual("True", job.condition("Stalled"))


class UnknownPoolTest(FakeClusterCase):
    def test_starts_by_itself_when_the_pool_is_created(self):
        job = self.submit("early", pool="later")
        status = job.wait_reason("PoolNotFound")
        self.assertEqual(("Invalid", "True"), (status["phase"], job.condition("Stalled")))
        self.assertIn(f"there is no GpuPool later; there are: {self.pool}.", status["message"])
        other = self.submit("other")
        other.wait_phase("Running")
        free = next(name for name in self.node_names if name not in other.nodes())
        self.api.patch("nodes", free, {"metadata": {"labels": {"test/later": "yes", POOL_LABEL: None}}})
        self.api.create("gpupools", pool_manifest("later", {"test/later": "yes"}))
        job.wait_phase("Running")
        self.assertEqual("False", job.condition("Stalled"))
        self.finish(job)
        job.wait_condition("Complete")

    def test_suspended(self):
        """It does what it was asked to do; what would keep it from running is told."""
        job = self.submit("parked", suspend=True, template={"spec": {"containers": [{"name": "w", "image": "i:1"}]}})
        status = job.wait_phase("Suspended")
        self.assertIn("containers[0].command", status["message"])
        self.assertEqual("False", job.condition("Stalled"))
        wait_for("a warning", lambda: any(e["reason"] == "InvalidTemplate" and e["type"] == "Warning" for e in job.events()))
        job.patch(suspend=False)
        job.wait_phase("Invalid")


class NameConflictTest(FakeClusterCase):
    def check_conflict(self, kind, body, gpus):
        self.api.create(kind, body)
        job = self.submit("taken", gpus=gpus)
        status = job.wait_condition("Stalled")
        self.assertEqual("NameConflict", status["reason"])
        self.assertIn("taken-1", status["message"])
        wait_for("the nodes to be given back", lambda: not self.nodes.traces(), detail=lambda: str(self.nodes.traces()))
        other = self.submit("other")
        other.wait_phase("Running")
        other.delete()
        self.assertIsNotNone(self.api.find(kind, "taken-1", self.namespace), "somebody else's object was deleted")
        self.api.delete(kind, "taken-1", self.namespace)
        job.wait_phase("Running")
        self.assertEqual("False", job.condition("Stalled"))

    def test_service_of_somebody_else(self):
        body = {"metadata": {"name": "taken-1", "namespace": self.namespace},
                "spec": {"ports": [{"port": 80, "protocol": "TCP"}], "clusterIP": "None"}}
        self.check_conflict("services", body, 2)

    def test_job_of_somebody_else(self):
        template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "x", "image": "x"}]}}
        body = {"metadata": {"name": "taken-1", "namespace": self.namespace},
                "spec": {"parallelism": 0, "template": template}}
        self.check_conflict("jobs", body, 1)


class EditedJobTest(FakeClusterCase):
    def test_edit_after_the_end_is_answered(self):
        job = self.submit("over", backoffLimit=0)
        self.finish(job, 3)
        job.wait_condition("Failed")
        late = job.patch(template={"spec": {"containers": [shell("echo mended")]}})
        status = job.wait("its answer", lambda s: s.get("observedGeneration") == late["metadata"]["generation"] and s)
        self.assertEqual(("Failed", "BackoffLimitExceeded"), (status["phase"], status["reason"]))
        self.assertIn("does not run again", status["message"])
        self.assertIn("exited with code 3", status["message"])
        wait_for("a warning", lambda: [e for e in job.events() if e["reason"] == "SpecChanged" and e["type"] == "Warning"])
        version = job.read()["metadata"]["resourceVersion"]
        holds_for("it is written once", lambda: job.read()["metadata"]["resourceVersion"] == version, 2)

    def test_edit_of_a_leased_job_restarts_nothing(self):
        job = self.submit("edited")
        job.wait_phase("Running")
        before = (job.lease()["id"], self.worker(job)["metadata"]["uid"])
        try:
            job.patch(template={"spec": {"containers": [shell("echo other")]}})
        except ApiError as error:
            self.assertEqual(422, error.code)  # a CEL rule of newer servers
            return
        status = job.wait_condition("Stalled")
        self.assertEqual("SpecChanged", status["reason"])
        holds_for("the worker stays", lambda: (job.lease()["id"], self.worker(job)["metadata"]["uid"]) == before, 2)
        self.assertEqual(("Running", "True"), (job.phase(), job.condition("Running")))
        self.finish(job)
        self.assertEqual(1, job.wait_condition("Complete")["attempts"])
