# SPDX-License-Identifier: Apache-2.0
"""Variables of a pod (`env`, `envFrom`) reach the command and nothing else."""
import json

from tests.launcher.launcher_case import SHOW_ENVIRONMENT, LauncherCase


class Environment(LauncherCase):
    def setUp(self):
        super().setUp()
        self.other_state = self.dir / "other-state"
        self.other_state.mkdir()
        self.other_log = self.dir / "other-log"
        self.other_log.touch()
        self.variables = {
            "GPUPOOL_STATE_DIR": str(self.other_state), "GPUPOOL_TERMINATION_LOG": str(self.other_log),
            "GPUPOOL_POD_NAME": "other-7", "GPUPOOL_RANK": "0", "GPUPOOL_NNODES": "9", "GPUPOOL_NPROC": "bad",
            "GPUPOOL_MASTER_ADDR": "other", "GPUPOOL_MASTER_PORT": "1", "GPUPOOL_MASTER_TIMEOUT": "600",
            "GPUPOOL_HOLD": "1", "GPUPOOL_HOLD_SECONDS": "bad", "GPUPOOL_RESULT_BYTES": "bad"}

    def assert_others_untouched(self):
        self.assertEqual(list(self.other_state.iterdir()), [])
        self.assertEqual(self.other_log.read_bytes(), b"")

    def test_worker_of_a_gang(self):
        flags = ["--job=resnet", "--attempt=3", "--pod-name=resnet-3-1", "--nnodes=2", "--nproc=1",
                 "--master-addr=10.0.0.1", "--master-timeout=0"]
        given = {**self.variables, "GPUPOOL_JOB": "other", "GPUPOOL_ATTEMPT": "0", "RANK": "0", "PET_NNODES": "9"}
        done = self.run_launcher(*SHOW_ENVIRONMENT, flags=flags, env=given)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        expected = {"RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "10.0.0.1", "MASTER_PORT": "29500",
                    "PET_NNODES": "2", "PET_NODE_RANK": "1", "GPUPOOL_JOB": "resnet", "GPUPOOL_ATTEMPT": "3",
                    **self.variables}  # those go to the command as they are
        self.assertEqual({name: found.get(name) for name in expected}, expected)
        self.assert_result(attempt=3, rank=1)
        self.assert_others_untouched()

    def test_without_flags(self):
        """Alone, rank 0, and started again it ends at once."""
        for code in (4, 5):
            done = self.run_launcher("sh", "-c", f"exit {code}", env=self.variables)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assert_result(rank=0, attempt=0, exitCode=4)
        self.assert_others_untouched()

    def test_arguments_that_cannot_be_used(self):
        self.assertEqual(self.run_launcher("true", flags=["--nope"], env=self.variables).returncode, 2)
        self.assertIn("--nope", self.message()["message"])
        self.assert_others_untouched()
