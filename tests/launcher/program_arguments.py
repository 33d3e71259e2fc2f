# SPDX-License-Identifier: Apache-2.0
"""Command line of gpupool-launch itself."""
import os
import stat
import subprocess

from tests.launcher.launcher_case import HANG_LIMIT, LAUNCHER, LauncherCase


class Arguments(LauncherCase):
    def test_help_names_every_flag(self):
        for arguments in (["--help"], ["run", "--help"]):
            done = self.call(*arguments)
            self.assertEqual(done.returncode, 0)
            for flag in ("state-dir", "termination-log", "job", "attempt", "rank", "pod-name", "nnodes", "nproc",
                         "master-addr", "master-port", "master-timeout", "hold", "hold-seconds",
                         "result-bytes"):
                self.assertIn(f"--{flag} ".encode(), done.stdout)

    def test_version(self):
        done = self.call("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, rb"\Agpupool-launch \d+\.\d+\.\d+\n\Z")

    def test_mistakes_are_named_and_give_2(self):
        for arguments, named in ((["--nope"], b"--nope"), (["walk"], b"walk"), ([], b"run, env, install"),
                                 (["run", "--nope", "--", "true"], b"--nope"),
                                 (["run", "--nproc", "0", "--", "true"], b"--nproc: '0'"),
                                 (["install"], b"install"), (["env", "--nope"], b"--nope"), (["run", "--"], b"no command")):
            done = self.call(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(named, done.stderr)

    def test_bad_flag_is_named_in_the_termination_message(self):
        ran = self.dir / "ran"
        for flags, named in ((["--nproc=many"], "--nproc: 'many'"), (["--nproc", "many"], "--nproc: 'many'"),
                             (["--nope"], "unknown flag --nope")):
            for log in (["--termination-log", str(self.log)], [f"--termination-log={self.log}"]):
                self.log.write_text("")
                done = self.call("run", *flags, *log, "--", "touch", str(ran))
                self.assertEqual(done.returncode, 2)
                self.assertIn(named, self.message()["message"])
                self.assertEqual((self.message()["outcome"], self.message()["exitCode"]), ("notStarted", 2))
                self.assertFalse(ran.exists())

    def test_message_about_bad_flags_is_as_long_as_asked_for(self):
        self.call("run", "--result-bytes=150", f"--termination-log={self.log}", "--" + "x" * 500, "--", "true")
        self.assertLessEqual(len(self.log.read_bytes()), 150)
        self.assertEqual(self.message()["exitCode"], 2)


class Install(LauncherCase):
    def test_copies_itself_executable_whatever_the_umask(self):
        target = self.dir / "bin"
        target.mkdir()
        for _ in range(2):  # the second time over the first
            subprocess.run([LAUNCHER, "install", str(target)], check=True, timeout=HANG_LIMIT, umask=0o077)
        copy = target / "gpupool-launch"
        self.assertEqual(os.listdir(target), ["gpupool-launch"])
        self.assertEqual(stat.S_IMODE(copy.stat().st_mode), 0o755)
        with open(LAUNCHER, "rb") as original:
            self.assertEqual(copy.read_bytes(), original.read())

    def test_missing_directory(self):
        done = self.call("install", str(self.dir / "missing"))
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"missing", done.stderr)
