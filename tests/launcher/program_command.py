# SPDX-License-Identifier: Apache-2.0
"""The command: arguments, environment, exit codes, and why it may not run."""
import json
import sys

from tests.launcher.launcher_case import SHOW_ENVIRONMENT, LauncherCase


class Command(LauncherCase):
    def test_exit_codes_pass(self):
        for code in (0, 1, 42, 255):
            self.setUp()
            done = self.run_launcher("sh", "-c", f"exit {code}")
            self.assertEqual(done.returncode, code)
            result = self.assert_result(version=1, outcome="exited", exitCode=code, signal=None, attempt=0, rank=0,
                                        reason="Error" if code else "Completed")
            self.assertRegex(result["startedAt"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
            self.assertRegex(result["finishedAt"], r"\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\Z")

    def test_arguments_arrive_unchanged(self):
        arguments = ["with space", "two\nlines", "", "--", "--rank", "$HOME", "'\"\\", "ünï", "-n"]
        done = self.run_launcher(sys.executable, "-c", "import json,sys; print(json.dumps(sys.argv[1:]))", *arguments)
        self.assertEqual(json.loads(done.stdout), arguments)

    def test_environment(self):
        flags = ["--job=resnet", "--attempt=3", "--pod-name=resnet-3-1", "--nnodes=2", "--nproc", "4",
                 "--master-addr=10.0.0.1", "--master-timeout", "0"]
        given = {"RANK": "user", "GPUPOOL_JOB": "user", "GPUPOOL_ATTEMPT": "user", "MINE": "kept a\nb"}
        done = self.run_launcher(*SHOW_ENVIRONMENT, flags=flags, env=given)
        found = json.loads(done.stdout)
        expected = {"RANK": "4", "WORLD_SIZE": "8", "LOCAL_RANK": "0", "MASTER_ADDR": "10.0.0.1",
                    "MASTER_PORT": "29500", "PET_NNODES": "2", "PET_NODE_RANK": "1", "PET_NPROC_PER_NODE": "4",
                    "PET_MASTER_ADDR": "10.0.0.1", "PET_MASTER_PORT": "29500", "GPUPOOL_JOB": "resnet",
                    "GPUPOOL_ATTEMPT": "3", "MINE": "kept a\nb"}
        self.assertEqual({k: found.get(k) for k in expected}, expected)
        self.assert_result(attempt=3, rank=1)

    def test_stdin_and_working_directory_are_the_containers(self):
        (self.dir / "in").write_text("typed")
        with open(self.dir / "in", "rb") as stdin:
            done = self.run_launcher("sh", "-c", "cat; pwd", stdin=stdin, cwd=self.dir)
        self.assertEqual(done.stdout.decode(), f"typed{self.dir}\n")

    def test_no_extra_descriptors(self):
        done = self.run_launcher("ls", "/proc/self/fd")
        self.assertEqual(done.stdout.split(), [b"0", b"1", b"2", b"3"])  # 3 is ls reading the directory


class CannotRun(LauncherCase):
    def check(self, command, code, reason, text, env=None):
        done = self.run_launcher(*command, env=env)
        self.assertEqual(done.returncode, code)
        result = self.assert_result(outcome="notStarted", exitCode=code, reason=reason)
        self.assertIn(text, result["message"])
        self.assertIn(text.encode(), done.stderr)
        self.assertNotIn("startedAt", result)

    def script(self, content, mode):
        path = self.dir / "script"
        path.write_bytes(content)
        path.chmod(mode)
        return str(path)

    def test_not_in_path(self):
        self.check(["no-such-command"], 127, "CommandNotFound", "not found: 'no-such-command'")

    def test_no_such_file(self):
        self.check([str(self.dir / "nowhere" / "x")], 127, "CommandNotFound", "nowhere")

    def test_empty_name(self):
        self.check([""], 127, "CommandNotFound", "not found: ''")

    def test_not_executable(self):
        self.check([self.script(b"#!/bin/sh\n", 0o644)], 126, "CommandNotExecutable", "Permission denied")

    def test_found_in_path_but_not_executable(self):
        self.script(b"#!/bin/sh\n", 0o644)
        self.check(["script"], 126, "CommandNotExecutable", "Permission denied", env={"PATH": f"/nowhere:{self.dir}"})

    def test_other_machine(self):
        self.check([self.script(b"\x7fELF garbage", 0o755)], 126, "CommandNotExecutable", "Exec format error")

    def test_interpreter_missing(self):
        self.check([self.script(b"#!/no/such/shell\n", 0o755)], 126, "CommandNotExecutable", "interpreter")


class LauncherErrors(LauncherCase):
    def check(self):
        done = self.run_launcher("touch", str(self.dir / "ran"))
        self.assertEqual(done.returncode, 125)
        message = self.message()
        self.assertEqual((message["outcome"], message["reason"]), ("notStarted", "LauncherError"))
        self.assertIn(str(self.state), message["message"])
        self.assertIn(str(self.state).encode(), done.stderr)
        self.assertFalse((self.dir / "ran").exists())

    def test_no_state_directory(self):
        self.state.rmdir()
        self.check()

    def test_state_directory_is_a_file(self):
        self.state.rmdir()
        self.state.touch()
        self.check()

    def test_no_termination_log_is_no_error(self):
        self.log.unlink()
        self.assertEqual(self.run_launcher("true").returncode, 0)
        self.assertFalse(self.log.exists())
        self.assertTrue(self.stored())
