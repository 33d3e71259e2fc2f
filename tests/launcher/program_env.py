# SPDX-License-Identifier: Apache-2.0
"""`env` gives a shell in the worker's container the variables that the worker's command has."""
import json
import socket
import stat
import subprocess

from tests.launcher.launcher_case import HANG_LIMIT, LAUNCHER, SHOW_ENVIRONMENT, LauncherCase

GANG = ["--job=resnet", "--attempt=3", "--pod-name=resnet-3-1", "--nnodes=2", "--nproc=4", "--master-addr=127.0.0.1"]


class Env(LauncherCase):
    def env(self, *command, **variables):
        return subprocess.run([LAUNCHER, "env", f"--state-dir={self.state}", *command], capture_output=True,
                              env=self.environment(**variables), timeout=HANG_LIMIT, check=False)

    def test_the_same_variables_as_the_command_has(self):
        given = {"RANK": "9", "PET_NNODES": "9", "GPUPOOL_JOB": "other", "MINE": "a b\nc"}
        ran = self.run_launcher(*SHOW_ENVIRONMENT, flags=[*GANG, "--master-timeout=0"], env=given)
        done = self.env(*SHOW_ENVIRONMENT, **given)
        self.assertEqual((0, b""), (done.returncode, done.stderr))
        self.assertEqual(json.loads(ran.stdout), json.loads(done.stdout))
        self.assertEqual("4", json.loads(done.stdout)["RANK"])

    def test_without_a_command_it_prints_them(self):
        self.run_launcher("true", flags=[*GANG, "--master-timeout=0"])
        done = self.env(MINE="7")
        self.assertEqual(0, done.returncode, done.stderr)
        lines = done.stdout.decode().splitlines()
        for line in ("RANK=4", "WORLD_SIZE=8", "MASTER_ADDR=127.0.0.1", "PET_NPROC_PER_NODE=4", "GPUPOOL_ATTEMPT=3",
                     "MINE=7"):
            self.assertIn(line, lines)

    def test_while_the_rank_waits_for_rank_0(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            flags = [*GANG, f"--master-port={server.getsockname()[1]}"]
            process = self.start("sh", "-c", "exit 5", flags=flags)
            server.accept()[0].close()  # the launcher has asked; the variables are there before
            self.assertIn(b"RANK=4\n", self.env().stdout)
            self.assertEqual(5, process.wait(HANG_LIMIT))

    def test_it_becomes_the_command(self):
        self.run_launcher("true")
        self.assertEqual(7, self.env("sh", "-c", 'exit "$1"', "sh", "7").returncode)
        self.assertEqual(b"--help -- x\n", self.env("--", "echo", "--help", "--", "x").stdout)
        self.assertEqual(-15, self.env("sh", "-c", "kill -TERM $$").returncode)
        for command, code, text in (("no-such-program", 127, b"command not found: 'no-such-program'"),
                                    ("/etc/passwd", 126, b"cannot execute '/etc/passwd'")):
            done = self.env(command)
            self.assertEqual(code, done.returncode)
            self.assertIn(text, done.stderr)

    def test_where_no_worker_is(self):
        done = self.env("true")
        self.assertEqual(125, done.returncode)
        self.assertIn(b"this is not the container of a worker", done.stderr)

    def test_every_user_may_read_them_whatever_the_umask(self):
        subprocess.run(self.launch("true"), check=True, timeout=HANG_LIMIT, umask=0o077)
        self.assertEqual(0o644, stat.S_IMODE((self.state / "variables").stat().st_mode))

    def test_a_worker_runs_where_they_cannot_be_stored(self):
        (self.state / "variables.new").mkdir()
        done = self.run_launcher("sh", "-c", "exit 5")
        self.assertEqual(5, done.returncode)
        self.assertIn(b"variables.new: Is a directory", done.stderr)
