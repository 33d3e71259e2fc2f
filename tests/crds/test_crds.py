#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The definitions in crds/ on a real API server. Usage: TEST_KUBECONFIG=FILE [KUBECTL=FILE] tests/crds/test_crds.py

kubectl is taken from KUBECTL or PATH. Leaves the definitions installed, and nothing else.
"""

import json
import os
import re
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(next(p for p in Path(__file__).resolve().parents if (p / "CMakePresets.json").exists()))

from tests.crds.bad_objects import (BAD_JOBS, BAD_NODE_STATUSES, BAD_POOLS, BAD_SWEEPS, COMMIT, HTTP, RESULT,  # noqa: E402
                                    result, source)
from tests.crds.cel_rules import CelRulesTest  # noqa: E402
from tests.crds.cluster_access import (CEL_SINCE, FILES, JOB, NAMESPACE, NODE, NODE_NAME, POOL, POOL_NAME, SWEEP,  # noqa: E402
                                       CrdTest, apply_crds, changed, kubectl, server_minor)
from tests.crds.full_statuses import FULL_JOB_STATUS, FULL_NODE_STATUS, FULL_POOL_STATUS, FULL_SWEEP_STATUS, NEWER_WORDS  # noqa: E402
from tests.kit.paths import EXAMPLES, ROOT  # noqa: E402
from tests.kit.unittests import suite_for_server  # noqa: E402

MAX_BYTES = 200_000  # kubectl apply keeps a copy in an annotation, which has 256 KiB


class DefinitionTest(CrdTest):
    def definition(self, plural):
        return json.loads(kubectl("get", "crd", plural + ".gpupool.dev", "-o", "json"))

    def test_established_and_structural(self):
        for plural in FILES:
            conditions = {c["type"]: c["status"] for c in self.definition(plural)["status"]["conditions"]}
            self.assertEqual("True", conditions.get("Established"), plural)
            self.assertNotEqual("True", conditions.get("NonStructuralSchema"), plural)

    def test_applying_again_changes_nothing(self):
        before = {plural: self.definition(plural) for plural in FILES}
        output = apply_crds()
        for plural in FILES:
            after = self.definition(plural)
            self.assertEqual(before[plural]["metadata"]["generation"], after["metadata"]["generation"])
            self.assertEqual(before[plural]["spec"], after["spec"])
        if server_minor() >= CEL_SINCE:  # an older one drops the CEL rules, so kubectl sends them again
            self.assertEqual(len(FILES), output.count(" unchanged"), output)

    def test_small_enough_for_plain_apply(self):
        for path in FILES.values():
            self.assertLess(os.path.getsize(path), MAX_BYTES, path)

    def test_every_field_is_described(self):
        for plural in FILES:
            schema = self.definition(plural)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
            for name, field in self.fields(schema, plural):
                self.assertRegex(field.get("description", ""), r"(?s)^\S.*\.$", name)

    def fields(self, schema, path):
        for name, field in schema.get("properties", {}).items():
            if name == "metadata" and path in FILES:
                continue  # the API server allows no description there
            yield f"{path}.{name}", field
            yield from self.fields(field, f"{path}.{name}")
            yield from self.fields(field.get("items", {}), f"{path}.{name}[]")


class ObjectTest(CrdTest):
    def test_defaults_of_a_job(self):
        spec = self.accepted(JOB)["spec"]
        del spec["template"]
        self.assertEqual({"pool": POOL_NAME, "gpus": 1, "gpusPerWorker": 1, "priority": 0, "backoffLimit": 3,
                          "nodeReplacement": "Allowed", "startTimeoutSeconds": 600, "suspend": False}, spec)

    def test_defaults_of_a_pool(self):
        spec = self.accepted(changed(POOL, {"spec.sharing": {}}))["spec"]
        self.assertEqual({"resourceName": "nvidia.com/gpu", "homogeneous": False}, spec["gpus"])
        self.assertEqual(30, spec["nodeLossTimeoutSeconds"])
        # The rest of sharing are promises: a default would make one that nobody gave.
        self.assertEqual({"unit": "Slice", "resourceName": "gpupool.dev/vgpu"}, spec["sharing"])
        self.assertNotIn("sharing", self.accepted(POOL)["spec"])

    def test_defaults_of_a_sweep(self):
        spec = self.accepted(changed(SWEEP, {"spec.objective": {"metric": "loss", "goal": "Maximize"},
                                             "spec.search": {"random": {"trials": 5}}}))["spec"]
        del spec["parameters"], spec["job"]
        self.assertEqual({"search": {"random": {"trials": 5, "seed": 0}}, "parallel": 10, "suspend": False, "keepJobs": "All",
                          "objective": {"metric": "loss", "goal": "Maximize", "take": "Best", "missing": "Fail"}}, spec)

    def test_bounds_themselves_are_accepted(self):
        self.accepted(changed(JOB, {"metadata.name": "a" * 45, "spec.gpus": 64000, "spec.gpusPerWorker": 64,
                                    "spec.nodes": [f"{i:0253}" for i in range(1000)], "spec.backoffLimit": 0,
                                    "spec.ttlSecondsAfterFinished": 0, "spec.priority": -1000000}))
        self.accepted(changed(JOB, source(timeoutSeconds=86400, sizeLimit="1.5Ti", items=[
            {"path": f"{i:01024}", "git": {"url": "https://example.com/a.git", "commit": COMMIT[:8] * 8}} for i in range(32)])))
        self.accepted(changed(JOB, {"spec.results": [{**RESULT, "ranks": list(range(1000)), "timeoutSeconds": 1,
                                                      "syncSeconds": 86400, "to": {"s3": {"bucket": "x" * 63}}}] * 8}))
        self.accepted(changed(SWEEP, {"metadata.name": "a" * 40, "spec.parallel": 1000, "spec.maxFailed": 0, "spec.parameters": [
            {"name": "a" * 63, "values": [f"{i:0512}" for i in range(1000)]},
            {"name": "b", "integers": {"min": -10 ** 15, "max": 10 ** 15}}]}))
        self.accepted(changed(POOL, {"spec.nodeSelector": {}, "spec.nodeNamePattern": "x" * 256,
                                     "spec.gpus.minMemory": "1.5Gi", "spec.gpus.models": ["x" * 63],
                                     "spec.sharing.deviceMemoryScaling": 0.1}))

    def check_refused(self, base, rows):
        self.accepted(base)  # else every row would be refused for another reason
        for changes, field in rows:
            with self.subTest(changes=str(changes)[:100]):
                self.assert_refused(self.api.create(changed(base, changes)), field)

    def test_bad_jobs_are_refused(self):
        self.check_refused(JOB, BAD_JOBS)

    def test_bad_sweeps_are_refused(self):
        self.check_refused(SWEEP, BAD_SWEEPS)

    def test_bad_pools_are_refused(self):
        self.check_refused(POOL, BAD_POOLS)

    def test_bad_reports_of_a_node_are_refused(self):
        self.accepted(NODE, dry_run=False)
        for status, field in BAD_NODE_STATUSES:
            with self.subTest(status=str(status)[:100]):
                self.assert_refused(self.api.patch(NODE, {"status": status}, "/status"), field)
        kubectl("delete", "gpunodes.gpupool.dev", NODE_NAME)

    def test_template_is_kept_and_the_rest_is_pruned(self):
        template = {"unknown": {"a": [1, {"b": None}]}, "metadata": {"labels": {"l": "v"}, "unknown": 1},
                    "spec": {"unknown": {"deep": [True]}, "containers": [{"name": "w", "unknown": 1.5}]}}
        spec = self.accepted(changed(JOB, {"spec.template": template, "spec.unknown": 1}))["spec"]
        self.assertEqual(template, spec["template"])
        self.assertNotIn("unknown", spec)
        # The operator checks the job of a sweep, so it must see what is unknown in it.
        sweep = changed(SWEEP, {"metadata.name": "prune", "spec.unknown": 1, "spec.job.unknown": 1, "spec.job.template": template})
        spec = self.accepted(sweep)["spec"]
        self.assertEqual({"pool": POOL_NAME, "unknown": 1, "template": template}, spec["job"])
        self.assertNotIn("unknown", spec)
        spec = self.accepted(changed(POOL, {"spec.unknown": 1, "spec.gpus.unknown": 1}))["spec"]
        self.assertNotIn("unknown", spec)
        self.assertNotIn("unknown", spec["gpus"])

    def test_status_is_apart_from_spec(self):
        job = changed(JOB, {"metadata.name": "status", "status": {"phase": "Running"}})
        made = self.accepted(job, dry_run=False)
        self.assertEqual({"observedGeneration": -1}, made["status"], "for kstatus, it waits for the operator")
        both = {"spec": {"priority": 5}, "status": {"phase": "Queued"}}
        after = self.api.patch(job, both)[1]
        self.assertEqual((5, made["status"]), (after["spec"]["priority"], after.get("status")))
        both["spec"]["priority"] = 6
        after = self.api.patch(job, both, "/status")[1]
        self.assertEqual((5, {**made["status"], "phase": "Queued"}), (after["spec"]["priority"], after["status"]))

    def test_every_field_of_a_status_is_kept(self):
        for objekt, status in ((changed(JOB, {"metadata.name": "full-status"}), FULL_JOB_STATUS), (SWEEP, FULL_SWEEP_STATUS),
                               (POOL, FULL_POOL_STATUS), (NODE, FULL_NODE_STATUS)):
            self.accepted(objekt, dry_run=False)
            code, body = self.api.patch(objekt, {"status": status}, "/status")
            self.assertEqual((200, status), (code, body.get("status", body)))
            # Words of a newer operator are shown, not refused.
            code, body = self.api.patch(objekt, {"status": NEWER_WORDS[objekt["kind"]]}, "/status")
            self.assertEqual(200, code, body)
        kubectl("delete", "gpupools.gpupool.dev", POOL_NAME)
        kubectl("delete", "gpunodes.gpupool.dev", NODE_NAME)

    def test_the_largest_status_is_small(self):
        """etcd takes 1.5 MiB, and every watcher of jobs gets each change of it."""
        self.assertLess(len(json.dumps(FULL_JOB_STATUS)), 128 * 1024)

    def test_defaults_of_source_and_results(self):
        spec = self.accepted(changed(JOB, {**source(), **result()}))["spec"]
        self.assertEqual({"items": [{"path": "a", "http": HTTP}], "timeoutSeconds": 3600}, spec["source"])
        self.assertEqual([RESULT], spec["results"])  # a default within a list would look like a change to kubectl apply

    def test_examples_are_accepted(self):
        kubectl("apply", "--dry-run=server", "-f", str(EXAMPLES))
        for name in sorted(name for name in os.listdir(EXAMPLES) if name.endswith(".yaml")):
            with open(os.path.join(EXAMPLES, name), encoding="utf-8") as example:
                self.assertRegex(example.readline(), "^# .{20,}", name)


class KubectlTest(CrdTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for objekt in (changed(JOB, {"spec.gpus": 4}), SWEEP, POOL, NODE):
            code, body = cls.api.create(objekt, dry_run=False)
            if code != 201:
                raise AssertionError(body["message"])

    def get(self, *arguments):
        return kubectl("-n", NAMESPACE, "get", *arguments)

    def test_columns(self):
        self.assertEqual("NAME PHASE POOL GPUS NODES ATTEMPTS REASON AGE", self.columns("gjob"))
        self.assertEqual("NAME PHASE POOL GPUS NODES ATTEMPTS REASON AGE MASTER COST PRIORITY CREATED NAMESPACE",
                         self.columns("gjob", "-o", "wide"))
        self.assertEqual("NAME PHASE ENDED ACTIVE FAILED BEST VALUE REASON AGE", self.columns("gsweep"))
        self.assertEqual("NAME READY NODES NODES-READY NODES-LEASED NODES-AVAILABLE GPUS GPUS-AVAILABLE SLICES "
                         "SLICES-FREE QUEUED RUNNING AGE", self.columns("gpool"))
        self.assertEqual("NAME GPUS HEALTHY SLICES SLICES-FREE UTILIZATION MEMORY DRIVER LAST-REPORT", self.columns("gnode"))
        self.assertEqual("NAME GPUS HEALTHY SLICES SLICES-FREE UTILIZATION MEMORY DRIVER LAST-REPORT MESSAGE",
                         self.columns("gnode", "-o", "wide"))

    def columns(self, *arguments):
        return " ".join(self.get(*arguments).splitlines()[0].split())

    def test_use_of_gpus(self):
        code, body = self.api.patch(NODE, {"status": FULL_NODE_STATUS}, "/status")
        self.assertEqual(200, code, body)
        line = self.get("gnode", NODE_NAME, "--no-headers").split()
        self.assertEqual([NODE_NAME, "2", "1", "20", "7", "37%", "12.5/40Gi", "550.54.15"], line[:8])
        with open(os.path.join(ROOT, "docs", "vgpu.md"), encoding="utf-8") as document:
            (path,) = re.findall(r"kubectl get gnode NODE -o jsonpath='([^']*)'", document.read())
        self.assertEqual("GPU-1 2026-01-02T03:04:05Z 3600000 86400000\n", self.get("gnode", NODE_NAME, "-o", "jsonpath=" + path))

    def test_category_shows_all_kinds(self):
        shown = self.get("gpupool-all", "-o", "name").split()
        self.assertIn("gpupool.gpupool.dev/" + POOL_NAME, shown)
        self.assertIn("gpunode.gpupool.dev/" + NODE_NAME, shown)
        self.assertIn("gpujob.gpupool.dev/job", shown)
        self.assertIn("gpusweep.gpupool.dev/sweep", shown)

    def test_every_name_of_a_kind_works(self):
        for kind in ("gpool", "gpupool", "gpupools", "gpools", "gpupools.gpupool.dev"):
            self.get(kind, POOL_NAME)
        for kind in ("gnode", "gpunode", "gpunodes", "gnodes", "gpunodes.gpupool.dev"):
            self.get(kind, NODE_NAME)
        for kind in ("gjob", "gpujob", "gpujobs", "gjobs", "gpujobs.gpupool.dev"):
            self.get(kind, "job")
        for kind in ("gsweep", "gpusweep", "gpusweeps", "gsweeps", "gpusweeps.gpupool.dev"):
            self.get(kind, "sweep")

    def test_explain(self):
        for field, text in (("gjob.spec.gpus", "multiple of gpusPerWorker"), ("gpujob.spec.template", "command"),
                            ("gpujob.status.phase", "Queued"), ("gjob.spec.slice", "slices of one GPU"),
                            ("gjob.spec.source", "complete or absent"),
                            ("gjob.spec.results", "manifest.json"), ("gsweep.spec.parameters.logUniform", "as between 0.01 and 0.1"), ("gsweep.spec.job", "kubectl explain gjob.spec"),
                            ("gnode.status.gpus.pods", "as the kubelet knows them"), ("gpupool.spec.nodeSelector", "matchLabels")):
            output = kubectl("explain", "--api-version=gpupool.dev/v1alpha1", field)
            self.assertIn(text, " ".join(output.split()), field)


def load_tests(loader, _tests, _pattern):
    return suite_for_server(loader, [DefinitionTest, ObjectTest, KubectlTest], CelRulesTest, "The CEL rules are", server_minor(), CEL_SINCE)


if __name__ == "__main__":
    unittest.main()
