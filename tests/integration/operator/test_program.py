# SPDX-License-Identifier: Apache-2.0
"""The operator as a program: flags, kubeconfigs, probes, and its end."""

import os
import re
import subprocess
import tempfile

from tests.kit.paths import operator_binary
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import wait_for


def call(*arguments, **environment):
    env = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", "HOME")}
    return subprocess.run([operator_binary(), *arguments], capture_output=True, text=True, timeout=60, check=False,
                          env={**env, "HOME": "/nonexistent", **environment})


class FlagTest(FakeClusterCase):
    node_count = 0

    def test_help_and_version(self):
        shown = call("--help")
        self.assertEqual((0, ""), (shown.returncode, shown.stderr))
        for flag in ("--kubeconfig", "--metrics-bind-address", "--launcher-image", "--log-level"):
            self.assertIn(flag, shown.stdout)
        shown = call("--version")
        self.assertEqual(0, shown.returncode)
        self.assertRegex(shown.stdout, r"^gpupool-operator \d+\.\d+\.\d+")

    def test_bad_flags_are_named(self):
        for arguments, text in ((["--no-such-flag"], "--no-such-flag"), (["--workers", "many"], "--workers"),
                                (["--workers", "0"], "--workers"), (["--log-level", "loud"], "--log-level"),
                                (["--kubeconfig"], "--kubeconfig"), (["stray"], "stray")):
            with self.subTest(arguments=arguments):
                shown = call(*arguments)
                self.assertEqual(2, shown.returncode, shown.stderr)
                self.assertIn(text, shown.stderr + shown.stdout)

    def test_bad_kubeconfigs(self):
        with open(self.lab.kubeconfig, encoding="utf-8") as source:
            good = source.read()
        with tempfile.TemporaryDirectory() as folder:
            def written(name, text):
                path = os.path.join(folder, name)
                with open(path, "w", encoding="utf-8") as config:
                    config.write(text)
                return path
            nowhere = re.sub(r'"server": "[^"]*"', '"server": "https://127.0.0.1:1"', good)
            cases = {"missing": os.path.join(folder, "missing"), "empty": written("empty", ""),
                     "truncated": written("truncated", good[:len(good) // 2]), "nowhere": written("nowhere", nowhere)}
            for what, path in cases.items():
                with self.subTest(kubeconfig=what):
                    shown = call("--kubeconfig", path, "--cache-sync-timeout", "2",
                                 "--metrics-bind-address", "127.0.0.1:0")
                    self.assertEqual(1, shown.returncode, shown.stderr)
                    self.assertIn("127.0.0.1:1" if what == "nowhere" else path, shown.stderr)

    def test_address_in_use(self):
        port = self.operator.port()
        shown = call("--kubeconfig", self.lab.kubeconfig, "--metrics-bind-address", f"127.0.0.1:{port}")
        self.assertEqual(1, shown.returncode, shown.stderr)
        self.assertIn(str(port), shown.stderr)


class ProbeTest(FakeClusterCase):
    def test_probes_and_metrics(self):
        self.assertEqual(200, self.operator.http("/healthz")[0])
        self.assertEqual(200, self.operator.http("/readyz")[0])
        self.assertEqual(404, self.operator.http("/nothing")[0])
        done = self.operator.metric('controller_runtime_reconcile_total{controller="gpujob"')
        job = self.submit("measured")
        job.wait_phase("Running")
        self.finish(job)
        job.wait_condition("Complete")
        code, text = self.operator.http("/metrics")
        self.assertEqual(200, code)
        for name in ("gpupool_", "controller_runtime_reconcile_total", "workqueue_depth", "rest_client_requests_total",
                     "process_resident_memory_bytes"):
            self.assertIn(name, text)
        self.assertNotIn("measured", text, "a label has unbounded values")
        self.assertGreater(self.operator.metric('controller_runtime_reconcile_total{controller="gpujob"'), done)

    def test_sigterm_ends_it_soon(self):
        job = self.submit("survives")
        job.wait_phase("Running")
        code, seconds = self.operator.stop()
        self.assertEqual(0, code, self.operator.tail())
        self.assertLess(seconds, 10)
        self.assertEqual("Running", job.phase())
        self.operator.start()
        self.finish(job)
        self.assertEqual(1, job.wait_condition("Complete")["attempts"])


class WriteCountTest(FakeClusterCase):
    MAX_WRITES = 15  # 11 when idle, with a dry run; pool status may be written a few times more on a busy machine

    def writes(self):
        return sum(self.operator.metric(f'rest_client_requests_total{{code="{code}",method="{verb}"')
                   + self.operator.metric(f'rest_client_requests_total{{method="{verb}",code="{code}"')
                   for code in (200, 201) for verb in ("POST", "PATCH", "DELETE", "PUT"))

    def test_writes_of_a_job_with_one_gpu(self):
        before = self.writes()
        job = self.submit("frugal")
        job.wait_phase("Running")
        self.finish(job)
        job.wait_condition("Complete")
        wait_for("its pod to be released", lambda: not any(p["metadata"].get("finalizers") for p in job.pods()))
        self.wait_pool(nodes={"leased": 0}, jobs={"running": 0})
        count = self.writes() - before
        print(f"{count:.0f} API writes, events and pool status included ", end="", flush=True)
        self.assertGreater(count, 5, "the metric does not count writes")
        self.assertLessEqual(count, self.MAX_WRITES)
