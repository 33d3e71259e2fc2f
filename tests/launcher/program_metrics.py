# SPDX-License-Identifier: Apache-2.0
"""Numbers that the command reports are in the result."""
import os
import sys

from tests.launcher.launcher_case import LauncherCase

PIPE = """
import json, os
with open(os.environ["GPUPOOL_METRICS"], "w") as pipe:
    print("not JSON", file=pipe)
    for step in range(3): print(json.dumps({"step": step, "loss": 1 / (step + 1)}), file=pipe)
"""


class Metrics(LauncherCase):
    def test_from_the_output(self):
        self.run_launcher("sh", "-c", "echo step=1 loss=0.5; echo step=2 loss=0.25 >&2; printf 'acc: 90%%'",
                          flags=["--metrics=loss,acc"])
        self.assert_result(metrics=["loss 0.25 2 0.25 2 0.5 1 2 0", "acc 0.9 2 0.9 2 0.9 2 1 0"])

    def test_from_the_pipe(self):
        done = self.run_launcher(sys.executable, "-c", PIPE, flags=["--metrics", "loss"])
        self.assertEqual(done.returncode, 0)
        self.assert_result(metrics=["loss 0.333333333 2 0.333333333 2 1 0 3 0"])

    def test_writers_come_and_go(self):
        script = 'for i in 1 2 3; do echo "{\\"loss\\": $i}" > $GPUPOOL_METRICS; done'
        self.run_launcher("sh", "-c", script, flags=["--metrics=loss"])
        self.assert_result(metrics=["loss 3 - 1 - 3 - 3 0"])

    def test_names_that_came_instead(self):
        self.run_launcher("sh", "-c", "echo Loss=1; exit 3", flags=["--metrics=loss"])
        self.assert_result(exitCode=3, otherMetrics=["Loss"])
        self.assertNotIn("metrics", self.result())

    def test_not_asked_for(self):
        self.run_launcher("sh", "-c", "echo loss=1; test -z \"$GPUPOOL_METRICS\"")
        self.assert_result(exitCode=0)
        self.assertNotIn("metrics", self.result())
        self.assertNotIn("otherMetrics", self.result())
        self.assertNotIn("metrics", os.listdir(self.state))

    def test_only_of_rank_0(self):
        self.run_launcher("sh", "-c", "echo loss=1",
                          flags=["--metrics=loss", "--nnodes=2", "--rank=1", "--master-addr=x", "--master-timeout=0"])
        self.assertNotIn("metrics", self.result())

    def test_bad_names(self):
        for names in ("a,,b", "a b", ",".join(f"m{i}" for i in range(17))):
            done = self.run_launcher("true", flags=["--metrics=" + names])
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"--metrics", done.stderr)
