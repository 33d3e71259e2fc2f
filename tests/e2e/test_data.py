# SPDX-License-Identifier: Apache-2.0
"""spec.source and spec.results on real kubelets, with real servers for S3 and git."""

import hashlib
import json
import os
import subprocess
import time

from tests.e2e.data_case import BUCKET, DataCase
from tests.kit.jobs import JobHandle
from tests.kit.kubectl import kubectl
from tests.kit.manifests import shell
from tests.kit.paths import ROOT, cli_binary
from tests.kit.waiting import wait_for

CSV = "id,age,label\n1,20,a\n2,,b\n3,40,\n4,400,a\n"
CLEAN = "id,age,label\n1,20,a\n2,100,b\n4,100,a\n"  # 210, the mean of 20 and 400, is clipped too


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class DataTest(DataCase):
    def test_all_kinds_of_sources_and_results(self):
        script = "echo from-config-map\n"
        self.api.create("configmaps", {"metadata": {"name": "scripts", "namespace": self.namespace},
                                       "data": {"run.sh": script}})
        self.secret("bucket", **self.credentials)
        (self.folder / "web" / "raw.csv").write_text(CSV, encoding="utf-8")
        self.put_object("set/a/one.txt", b"one")
        self.put_object("set/two.txt", b"two")
        commit = self.commit({"src/main.sh": "echo from-git\n", "other/x": "x"})
        command = """
cd $GPUPOOL_WORK_DIR; sh run.sh; sh code/main.sh
for file in set/a/one.txt set/two.txt clean.csv raw.csv; do sha256sum $file; done
echo change >> code/main.sh && echo writable
(echo x >> clean.csv) 2>/dev/null || echo read-only
(rm -f clean.csv) 2>/dev/null; ls clean.csv
mkdir -p out/deep; echo $RANK > out/rank; echo x > out/deep/file; ln -s /etc/passwd out/link
"""
        container = shell(command, securityContext={"runAsUser": 1234})
        source = {"items": [
            {"path": "run.sh", "configMap": {"name": "scripts", "key": "run.sh"}},
            {"path": "raw.csv", "http": {"url": f"{self.web}/raw.csv"}, "sha256": sha256(CSV)},
            {"path": "set", "s3": self.s3_location(prefix="set"), "secret": "bucket"},
            {"path": "code", "git": {"url": f"{self.git}/code", "commit": commit, "subdirectory": "src"}},
            {"path": "clean.csv", "csv": {"from": "raw.csv", "missing": {"default": "Mean", "columns": {"label": "Drop"}},
                                          "clip": {"columns": {"age": {"max": "100"}}}}}]}
        results = [{"from": "/gpupool/work/out", "to": {"s3": self.s3_location(prefix="runs/$(job)/$(attempt)/$(rank)")},
                    "secret": "bucket", "ranks": [0, 2]}]
        job = self.submit("all-kinds", "", container=container, gpus=3, rendezvous="None", source=source, results=results)
        job.wait_condition("Complete")
        status = job.status()
        self.assertEqual("Fetched", status["source"]["state"])
        digests = {item["path"]: item["digest"] for item in status["source"]["items"]}
        self.assertEqual("git:" + commit, digests["code"])
        self.assertEqual("sha256:" + sha256(CSV), digests["raw.csv"])
        report = next(item["message"] for item in status["source"]["items"] if item["path"] == "clean.csv")
        self.assertIn("rows 4 in, 3 out, 1 dropped", report)
        self.assertEqual("Complete", status["results"]["state"], status["results"])
        for rank in (0, 2):
            files = self.get_objects(f"runs/all-kinds/0/{rank}")
            self.assertEqual({"rank", "deep/file", "manifest.json"}, set(files))
            self.assertEqual(f"{rank}\n", files["rank"].decode())
            manifest = json.loads(files["manifest.json"])
            self.assertEqual((True, rank), (manifest["complete"], manifest["rank"]))
            self.assertEqual({"rank", "deep/file"}, {file["path"] for file in manifest["files"]})
        place = self.folder / "brought"
        brought = subprocess.run([cli_binary(), "--kubeconfig", self.lab.kubeconfig, "-n", self.namespace, "results", "all-kinds",
                                  "--to", str(place)], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(0, brought.returncode, brought.stdout + brought.stderr)
        self.assertEqual({"rank", "file"}, {path.name for path in place.rglob("*") if path.is_file()} - {"manifest.json"})

    def test_the_worker_sees_what_it_should(self):
        (self.folder / "web" / "raw.csv").write_text(CSV, encoding="utf-8")
        self.secret("unused", **self.credentials)
        command = """
cd /gpupool/work
sha256sum raw.csv clean.csv
(echo x >> clean.csv) 2>/dev/null && echo bad || echo read-only
rm -f clean.csv 2>/dev/null && echo bad || echo stays
echo more >> raw.csv && echo writable
find / -name secrets -maxdepth 2 | grep . && echo bad || echo no-secrets
sleep 2
"""
        source = {"items": [
            {"path": "raw.csv", "http": {"url": f"{self.web}/raw.csv"}, "secret": "web"},
            {"path": "clean.csv", "csv": {"from": "raw.csv", "missing": {"columns": {"label": "Drop", "age": "Mean"}},
                                          "clip": {"columns": {"age": {"max": "100"}}}}}]}
        self.secret("web", token="abc")
        job = self.submit("sees", command, source=source)
        job.wait_condition("Complete")
        message = job.status()["message"]
        for line in (sha256(CSV), sha256(CLEAN), "read-only", "stays", "writable", "no-secrets"):
            self.assertIn(line, message)
        self.assertNotIn("bad", message)

    def fails(self, name, item, reason, **more):
        job = self.submit(name, "true", source={"items": [{"path": "x", **item}], **more})
        since = time.monotonic()
        job.wait_condition("Failed")
        status = job.status()
        self.assertEqual(reason, status["reason"], status["message"])
        self.assertEqual(0, status["failures"])
        self.assertLess(time.monotonic() - since, 30)
        return status["message"]

    def test_what_cannot_be_fetched_is_said_at_once(self):
        self.secret("wrong", AWS_ACCESS_KEY_ID=self.credentials["AWS_ACCESS_KEY_ID"], AWS_SECRET_ACCESS_KEY="no")
        self.secret("bucket", **self.credentials)
        (self.folder / "web" / "a").write_text("aaaa", encoding="utf-8")
        message = self.fails("denied", {"s3": self.s3_location(prefix="set"), "secret": "wrong"}, "SourceDenied")
        self.assertIn("x: ", message)
        self.fails("empty", {"s3": self.s3_location(prefix="nothing/here"), "secret": "bucket"}, "SourceNotFound")
        self.fails("gone", {"http": {"url": f"{self.web}/gone"}}, "SourceNotFound")
        self.fails("other", {"http": {"url": f"{self.web}/a"}, "sha256": sha256("b")}, "SourceMismatch")
        self.fails("large", {"http": {"url": f"{self.web}/a"}}, "SourceTooLarge", sizeLimit="3")
        self.fails("no-archive", {"http": {"url": f"{self.web}/a"}, "unpack": True}, "SourceInvalid")

    def test_results_of_a_job_that_is_deleted_within_its_grace(self):
        self.secret("bucket", **self.credentials)
        command = """
mkdir -p /gpupool/work/out; echo early > /gpupool/work/out/early
trap 'echo late > /gpupool/work/out/late; exit 0' TERM
while :; do sleep 0.1; done
"""
        results = [{"from": "/gpupool/work/out", "to": {"s3": self.s3_location(prefix="deleted/$(rank)")}, "secret": "bucket",
                    "ranks": [0, 1]}]
        job = self.submit("deleted", "", container=shell(command), pod={"terminationGracePeriodSeconds": 20}, gpus=2,
                          rendezvous="None", results=results)
        job.wait_phase("Running")
        time.sleep(2)
        self.api.delete("gpujobs", "deleted", self.namespace)
        wait_for("the job to be gone", lambda: not job.exists())
        for rank in (0, 1):
            files = self.get_objects(f"deleted/{rank}")
            self.assertEqual({"early", "late", "manifest.json"}, set(files), rank)

    def test_results_come_while_the_command_runs_and_into_a_volume(self):
        self.secret("bucket", **self.credentials)
        name = f"{self.namespace}-volume"
        self.api.create("persistentvolumes", {"metadata": {"name": name}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteMany"], "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": "", "claimRef": {"namespace": self.namespace, "name": "models"},
            "hostPath": {"path": f"/var/{name}", "type": "DirectoryOrCreate"}}})
        self.addCleanup(self.api.delete, "persistentvolumes", name)
        self.api.create("persistentvolumeclaims", {"metadata": {"name": "models", "namespace": self.namespace}, "spec": {
            "accessModes": ["ReadWriteMany"], "storageClassName": "", "volumeName": name,
            "resources": {"requests": {"storage": "1Gi"}}}})
        wait_for("the claim to be bound", lambda: self.api.get("persistentvolumeclaims", "models", self.namespace)["status"][
            "phase"] == "Bound")
        command = """
mkdir -p /gpupool/work/out; echo 1 > /gpupool/work/out/step
until [ -e /gpupool/work/go ]; do sleep 0.2; [ $((i += 1)) -gt 150 ] && break; done
echo 2 > /gpupool/work/out/step
"""
        results = [{"from": "/gpupool/work/out", "to": {"s3": self.s3_location(prefix="live")}, "secret": "bucket",
                    "syncSeconds": 10},
                   {"from": "/gpupool/work/out", "to": {"volume": {"claimName": "models", "path": "$(job)/$(attempt)"}}}]
        pod = {"securityContext": {"fsGroup": 65532}, "initContainers": [
            {**shell("chmod 777 /models"), "name": "open", "volumeMounts": [{"name": "m", "mountPath": "/models"}],
             "securityContext": {"runAsUser": 0}}],
               "volumes": [{"name": "m", "persistentVolumeClaim": {"claimName": "models"}}]}
        job = self.submit("live", "", container=shell(command), pod=pod, results=results)
        job.wait_phase("Running")
        wait_for("the first step in the bucket", lambda: self.objects_or_none("live") == {"step": b"1\n"})
        job.wait_condition("Complete")
        self.assertEqual("Complete", job.status()["results"]["state"], job.status()["results"])
        self.assertEqual(b"2\n", self.get_objects("live")["step"])
        self.assertIn("manifest.json", self.get_objects("live"))
        places = [item["to"] for item in job.status()["results"]["items"]]
        self.assertEqual("claim models: live/0", places[1])

    def apply_example(self, name, *replaced):
        with open(os.path.join(ROOT, "examples", name + ".yaml"), encoding="utf-8") as file:
            text = file.read()
        for old, new in replaced:
            self.assertIn(old, text)
            text = text.replace(old, new)
        path = self.folder / "example.yaml"
        path.write_text(text, encoding="utf-8")
        kubectl(self.lab.kubeconfig, "apply", "-f", str(path))
        return JobHandle(self.api, name, "default")

    def test_the_example_of_git(self):
        commit = self.commit({"hello.sh": "echo hello from git; cd /gpupool/work/code; echo x >> hello.sh || echo read-only\n"})
        job = self.apply_example("script-from-git", ("https://git.example.com/team/code.git", f"{self.git}/code"),
                                 ("0123456789abcdef0123456789abcdef01234567", commit))
        status = job.wait_condition("Complete")
        self.assertEqual("git:" + commit, status["source"]["items"][0]["digest"])
        for line in ("hello from git", "read-only"):
            self.assertIn(line, status["message"])

    def test_the_example_of_a_bucket(self):
        folder = os.path.join(ROOT, "examples", "train-from-bucket")
        for name in ("train.py", "houses.csv"):
            with open(os.path.join(folder, name), "rb") as file:
                self.put_object(name, file.read())
        self.addCleanup(self.api.delete, "secrets", "bucket", "default")
        job = self.apply_example("train-from-bucket", ("https://s3.example.com", self.s3), ("gpupool-example", BUCKET),
                                 ("your-key", self.credentials["AWS_ACCESS_KEY_ID"]),
                                 ("your-secret", self.credentials["AWS_SECRET_ACCESS_KEY"]))
        status = job.wait_condition("Complete", limit=240)
        self.assertEqual("Complete", status["results"]["state"], status)
        report = next(item["message"] for item in status["source"]["items"] if item["path"] == "houses.csv")
        self.assertIn("rows 301 in, 292 out, 9 dropped", report)
        files = self.get_objects("models/train-from-bucket")
        self.assertEqual({"model.pt", "report.json", "manifest.json"}, set(files))
        self.assertLess(json.loads(files["report.json"])["loss"], 0.3)

    def objects_or_none(self, prefix):
        try:
            return self.get_objects(prefix)
        except Exception:  # pylint: disable=broad-except
            return None  # there is nothing yet
