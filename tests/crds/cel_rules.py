# SPDX-License-Identifier: Apache-2.0
"""The CEL rules of the definitions: for each, what it accepts and what it refuses. Needs a server that checks them."""

from tests.crds.bad_objects import BUCKET, COMMIT, HTTP, RESULT, csv, result, source
from tests.crds.cluster_access import JOB, POOL, SWEEP, CrdTest, changed

LEASE = {"id": "00000000-0000-0000-0000-000000000000.1", "state": "Running", "attempt": 0}
CONTAINER = {"name": "w", "image": "i:2", "command": ["true"]}
IDENTITY = [{"pool": "other"}, {"gpus": 2}, {"gpusPerWorker": 2}, {"slice": {"count": 3}},
            {"rendezvous": "None"}, {"source": {"items": [{"path": "a", "http": HTTP}]}}, {"results": [RESULT]}]


def expression(operator, values):
    entry = {"key": "zone", "operator": operator}
    if values is not None:
        entry["values"] = values
    return {"spec.nodeSelector.matchExpressions": [entry]}


class CelRulesTest(CrdTest):
    def check(self, base, good, bad, message):
        for changes in good:
            with self.subTest(good=str(changes)):
                self.accepted(changed(base, changes))
        for changes in bad:
            with self.subTest(bad=str(changes)):
                self.assert_refused(self.api.create(changed(base, changes)), message)

    def test_gpus_are_a_multiple_of_gpus_per_worker(self):
        self.check(JOB, [{"spec.gpus": 3, "spec.gpusPerWorker": 8}, {"spec.gpus": 16, "spec.gpusPerWorker": 8}],
                   [{"spec.gpus": 12, "spec.gpusPerWorker": 8}], "must be a multiple of gpusPerWorker")

    def test_at_most_1000_workers(self):
        self.check(JOB, [{"spec.gpus": 1000}, {"spec.gpus": 8000, "spec.gpusPerWorker": 8}],
                   [{"spec.gpus": 1001}, {"spec.gpus": 8008, "spec.gpusPerWorker": 8}], "number of workers")

    def test_a_limit_is_not_below_the_guarantee(self):
        def queue(**tenant):
            return {"spec.queue": {"tenants": [{"name": "a", "namespaces": ["a"], **tenant}]}}
        self.check(POOL, [queue(), queue(guaranteed=2), queue(limit=0), queue(guaranteed=2, limit=2)],
                   [queue(guaranteed=3, limit=2)], "limit must not be less than guaranteed")

    def test_a_slice_is_a_count_or_what_it_must_have(self):
        self.check(JOB, [{"spec.slice": {"count": 3}}, {"spec.slice": {"memory": "4Gi"}}, {"spec.slice": {"cores": 30}},
                         {"spec.slice": {"memory": "4Gi", "cores": 30}, "spec.gpus": 4}],
                   [{"spec.slice": {}}], "one of memory, cores and count must be given")
        self.check(JOB, [], [{"spec.slice": {"count": 3, "memory": "4Gi"}}, {"spec.slice": {"count": 3, "cores": 30}}],
                   "count cannot be given together with memory or cores")

    def test_near_is_not_for_named_nodes(self):
        near = {"labels": ["example.com/rack", "zone"], "required": True}
        self.check(JOB, [{"spec.near": near}, {"spec.near": near, "spec.nodes": []},
                         {"spec.near": {"labels": []}, "spec.nodes": ["na"]}],
                   [{"spec.near": near, "spec.nodes": ["na"]}], "near cannot be given together with nodes")

    def test_whole_gpus_are_not_cut(self):
        self.check(POOL, [{"spec.sharing": {"unit": "GPU"}}, {"spec.sharing": {"unit": "Slice", "deviceSplitCount": 2}},
                          {"spec.sharing": {"deviceSplitCount": 2}}],
                   [{"spec.sharing": {"unit": "GPU", "deviceSplitCount": 2}},
                    {"spec.sharing": {"unit": "GPU", "deviceCoreScaling": 1.5}}], "are for unit Slice")

    def test_an_item_of_a_source_has_one_kind(self):
        git = {"url": "https://example.com/a.git", "commit": COMMIT}
        kinds = {"http": HTTP, "s3": {**BUCKET, "key": "a"}, "git": git, "configMap": {"name": "scripts", "key": "a"}}
        self.check(JOB, [csv(), *(source({kind: value}) for kind, value in kinds.items())],
                   [source({"path": "a"}), source(kinds), source({"http": HTTP, "csv": {"from": "b"}}),
                    source({"http": HTTP, "git": git}), source({"s3": {**BUCKET, "key": "a"}, "configMap": kinds["configMap"]})],
                   "exactly one of http, s3, git, configMap and csv must be given")

    def test_results_have_one_target(self):
        volume = {"claimName": "models"}
        self.check(JOB, [result(), result(to={"volume": volume})], [result(to={}), result(to={"s3": BUCKET, "volume": volume})],
                   "either s3 or volume must be given")

    def test_a_slice_is_of_one_gpu(self):
        self.check(JOB, [], [{"spec.slice": {"count": 3}, "spec.gpus": 2, "spec.gpusPerWorker": 2}],
                   "gpusPerWorker must be 1 with slice")

    def test_backup_nodes_stand_for_named_nodes(self):
        self.check(JOB, [{"spec.nodes": ["na"], "spec.backupNodes": ["nb"]}, {"spec.backupNodes": []}],
                   [{"spec.backupNodes": ["nb"]}, {"spec.nodes": [], "spec.backupNodes": ["nb"]}],
                   "backupNodes can only be given together with nodes")

    def test_values_fit_the_operator_of_an_expression(self):
        self.check(POOL, [expression("In", ["a"]), expression("NotIn", ["a"]), expression("Exists", None),
                          expression("DoesNotExist", [])],
                   [expression("In", []), expression("NotIn", None), expression("Exists", ["a"])],
                   "values must be given")

    def patch_spec(self, change):
        return self.api.patch(JOB, {"spec": change})

    def set_lease(self, lease):
        code, body = self.api.patch(JOB, {"status": {"lease": lease}}, "/status")
        self.assertEqual(200, code, body.get("message"))

    def test_what_runs_stays_as_it_is_under_a_lease(self):
        before = self.accepted(JOB, dry_run=False)["spec"]
        for change in IDENTITY:
            field = next(iter(change))
            with self.subTest(field=field):
                self.set_lease(LEASE)
                self.assert_refused(self.patch_spec(change),
                                    f"spec.{field} cannot be changed while the job holds nodes")
                for lease in ({**LEASE, "state": "Awaiting"}, None):
                    self.set_lease(lease)
                    self.assertEqual(200, self.patch_spec(change)[0], f"was refused with lease {lease}")
                    self.set_lease(None)
                    self.patch_spec({field: before.get(field)})  # so that each change is alone
        self.set_lease(LEASE)
        self.assertEqual(200, self.patch_spec({"suspend": True, "priority": 3, "ttlSecondsAfterFinished": 1,
                                               "rendezvous": "MasterPort"})[0], "it is what an absent one means")
        for change in ({"nodes": ["na"]}, {"nodes": None}, {"checkpoint": {"path": "/saves"}},
                       {"template": {"spec": {"containers": [{"name": "other"}]}}}):
            self.assertEqual(200, self.patch_spec(change)[0], "gpupool.dev/restart makes use of it")

    def test_a_sweep_stays_as_it_is_once_it_has_begun(self):
        sweep = changed(SWEEP, {"spec.objective": {"metric": "loss", "goal": "Minimize"}})
        self.accepted(sweep, dry_run=False)
        self.assertEqual(200, self.api.patch(sweep, {"spec": {"keepJobs": "None"}})[0], "was refused before it began")
        self.assertEqual(200, self.api.patch(sweep, {"status": {"specHash": "0123456789abcdef"}}, "/status")[0])
        for change in ({"parameters": [{"name": "a", "values": ["1"]}]}, {"search": {"random": {"trials": 5}}},
                       {"objective": {"metric": "other"}}, {"objective": None}, {"stopping": {"asha": {"max": 9}}}, {"keepJobs": "All"}, {"job": {"gpus": 2}},
                       {"job": {"template": {"spec": {"containers": [CONTAINER]}}}}):
            field = next(iter(change))
            with self.subTest(change=str(change)):
                self.assert_refused(self.api.patch(sweep, {"spec": change}), f"spec.{field} cannot be changed once the sweep has begun")
        self.assertEqual(200, self.api.patch(sweep, {"spec": {"parallel": 3, "maxFailed": 1, "suspend": True,
                                                              "objective": {"target": "0.5"}}})[0])
