# SPDX-License-Identifier: Apache-2.0
"""What the program tests share: a state directory, a termination log and the launcher as a process."""
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import unittest

LAUNCHER = os.environ["GPUPOOL_LAUNCH"]
HANG_LIMIT = 60  # seconds; nothing here takes that long unless it hangs
MACHINES_PID_NAMESPACE = 4026531836  # its inode, on every machine
SHOW_ENVIRONMENT = [sys.executable, "-c", "import json,os; print(json.dumps(dict(os.environ)))"]


class LauncherCase(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="gpupool-launch-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.state = self.dir / "state"
        self.state.mkdir()
        self.log = self.dir / "termination-log"
        self.log.touch()

    def environment(self, **variables):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GPUPOOL_")}
        return {**kept, **{k: str(v) for k, v in variables.items()}}

    def launch(self, *command, flags=()):
        """Arguments that run `command` with this test's files; later flags win."""
        return [LAUNCHER, "run", f"--state-dir={self.state}", f"--termination-log={self.log}", *flags, "--", *command]

    def start(self, *command, flags=(), env=None, wrapper=(), **popen):
        """The launcher running `command`; killed at the end of the test if it still runs."""
        popen.setdefault("stdout", subprocess.PIPE)
        popen.setdefault("stderr", subprocess.PIPE)
        popen.setdefault("stdin", subprocess.DEVNULL)
        process = subprocess.Popen([*wrapper, *self.launch(*command, flags=flags)], env=self.environment(**(env or {})),
                                   **popen)
        self.addCleanup(self.finish, process)
        return process

    @staticmethod
    def finish(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def kill_and_wait_for(self, process, command):
        """Kills the launcher without warning; its command must end too."""
        descriptor = os.pidfd_open(command)
        self.addCleanup(os.close, descriptor)
        process.kill()
        process.wait()
        self.assertTrue(select.select([descriptor], [], [], HANG_LIMIT)[0], "the command outlived the launcher")

    def run_launcher(self, *command, **options):
        process = self.start(*command, **options)
        out, err = process.communicate(timeout=HANG_LIMIT)
        return subprocess.CompletedProcess(command, process.returncode, out, err)

    def call(self, *arguments, **options):
        """The launcher with any arguments."""
        return subprocess.run([LAUNCHER, *arguments], capture_output=True, env=self.environment(),
                              timeout=HANG_LIMIT, check=False, **options)

    def result(self):
        """The termination message, which must be one small JSON object and equal to the stored result."""
        text = self.log.read_bytes()
        self.assertLessEqual(len(text), 3072)
        self.assertEqual((self.state / "result.json").read_bytes(), text)
        return json.loads(text.decode("utf-8"))

    def stored(self):
        """Whether a result has been: its file is made before the command starts, and is empty until then."""
        return (self.state / "result.json").stat().st_size > 0

    def message(self):
        """The termination message alone, where nothing can be stored."""
        return json.loads(self.log.read_text(encoding="utf-8"))

    def assert_result(self, **fields):
        result = self.result()
        self.assertEqual({k: result.get(k) for k in fields}, fields, result)
        return result

    def require_root(self):
        self.assertEqual(os.geteuid(), 0, "this test makes namespaces: run it as root")

    def require_machines_pid_namespace(self):
        """What a pod with hostPID is in. In a container these tests are skipped; those in a namespace of their own run."""
        if os.stat("/proc/self/ns/pid").st_ino != MACHINES_PID_NAMESPACE:
            self.skipTest("needs the machine's own PID namespace")
