# SPDX-License-Identifier: Apache-2.0
"""A command that saves its work: what it is told before it is stopped, and what it reports."""
import datetime
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from tests.launcher.launcher_case import HANG_LIMIT, SHOW_ENVIRONMENT
from tests.launcher.program_stop import OWN_PIDS, StopCase, children

VARIABLES = ("GPUPOOL_CHECKPOINT_DIR", "GPUPOOL_RESUME", "GPUPOOL_NOTICE_FILE", "GPUPOOL_GRACE_SECONDS",
             "GPUPOOL_REPORT_FILE")
# Waits for the notice, saves, and ends with 0. SIGTERM is an error.
BY_FILE = """
trap 'exit 8' TERM; echo ready
while ! [ -e "$GPUPOOL_NOTICE_FILE" ]; do sleep 0.02; done
echo '{"step":7,"path":"step-7"}' > "$GPUPOOL_REPORT_FILE.tmp"; mv "$GPUPOOL_REPORT_FILE.tmp" "$GPUPOOL_REPORT_FILE"
"""
UNTIL_TERM = "trap 'exit 3' TERM; echo ready; while :; do sleep 0.02; done"
# A child of a shell that the signal does not end.
SAVES_IN_THE_GRACE = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while not os.path.exists(os.environ["GPUPOOL_NOTICE_FILE"]):
    time.sleep(0.02)
time.sleep(0.5)
with open(os.environ["GPUPOOL_REPORT_FILE"], "w") as report:
    report.write('{"step":9}')
"""
LEAVES_THE_GROUP = """
import os, time
if os.fork():
    os.wait()
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
time.sleep(3)
with open(os.environ["GPUPOOL_REPORT_FILE"], "w") as report:
    report.write('{"step":9}')
"""
LONG_BY_FILE = ("--notice=file", "--grace-seconds=600")
NO_USER = 65534


class CheckpointCase(StopCase):
    def setUp(self):
        super().setUp()
        self.checkpoints = self.dir / "checkpoints"
        self.notice = self.state / "notice.json"
        self.report = self.state / "report.json"

    def flags(self, *more):
        return [f"--checkpoint-dir={self.checkpoints}", *more]

    def start_saving(self, script, *flags):
        """A command that waits, and the launcher's PID; this test is outside of its pod."""
        process = self.start_ready("sh", "-c", script, flags=self.flags(*flags), wrapper=OWN_PIDS)
        return process, children(process.pid)[0]

    def run_saving(self, script, *flags):
        return self.run_launcher("sh", "-c", script, flags=self.flags(*flags))

    def wait_for(self, done, what):
        end = time.monotonic() + HANG_LIMIT
        while not done():
            self.assertLess(time.monotonic(), end, what)
            time.sleep(0.01)


class Environment(CheckpointCase):
    def test_variables_of_the_command_and_of_env(self):
        done = self.run_launcher(*SHOW_ENVIRONMENT, flags=self.flags("--grace-seconds=120", "--resume=1"),
                                 env={"GPUPOOL_RESUME": "7"})
        expected = (str(self.checkpoints), "1", str(self.notice), "120", str(self.report))
        variables = json.loads(done.stdout)
        self.assertEqual(expected, tuple(variables[name] for name in VARIABLES))
        printed = self.call("env", f"--state-dir={self.state}").stdout.decode()
        self.assertIn(f"GPUPOOL_NOTICE_FILE={self.notice}\n", printed)

    def test_without_checkpoints_nothing_is_there(self):
        process = self.start_ready("sh", "-c", "trap 'env; exit 0' TERM; echo ready; while :; do sleep 0.02; done",
                                   flags=["--notice=file", "--grace-seconds=60", "--resume=1"], wrapper=OWN_PIDS)
        self.report.write_text('{"step":1}')
        os.kill(children(process.pid)[0], signal.SIGTERM)
        out, _ = process.communicate(timeout=HANG_LIMIT)
        for name in VARIABLES:
            self.assertNotIn(name.encode(), out)
        result = self.assert_result(exitCode=0, stopSignal=15, report=None, reportedAt=None, reportError=None,
                                    message="exit code 0 after SIGTERM was forwarded to it")
        self.assertNotIn("report", result)
        self.assertEqual({"mark", "variables", "result.json", "report.json"}, {p.name for p in self.state.iterdir()})


class NoticeTest(CheckpointCase):
    def test_signal_follows_the_file_at_once(self):
        script = "trap 'cat \"$GPUPOOL_NOTICE_FILE\"; exit 0' TERM; echo ready; while :; do sleep 0.02; done"
        process, launcher = self.start_saving(script, "--grace-seconds=3600")
        os.kill(launcher, signal.SIGTERM)
        out, _ = process.communicate(timeout=HANG_LIMIT)
        deadline = datetime.datetime.fromisoformat(json.loads(out)["deadline"].replace("Z", "+00:00"))
        left = deadline - datetime.datetime.now(datetime.timezone.utc)
        self.assertLess(abs(left.total_seconds() - 3600), 30)
        self.assert_result(exitCode=0, stopSignal=15, reason="Completed",
                           message="exit code 0 after SIGTERM was forwarded to it")

    def test_file_alone_and_the_command_ends_before_the_signal(self):
        process, launcher = self.start_saving(BY_FILE, *LONG_BY_FILE)
        os.kill(launcher, signal.SIGTERM)
        self.assertEqual(0, process.wait(HANG_LIMIT))
        self.assert_result(exitCode=0, stopSignal=15, outcome="exited", report='{"step":7,"path":"step-7"}',
                           message="exit code 0 after the notice of SIGTERM")

    def test_signal_near_the_end_of_the_grace(self):
        process, launcher = self.start_saving(UNTIL_TERM, "--notice=file", "--grace-seconds=12")
        begin = time.monotonic()
        os.kill(launcher, signal.SIGTERM)
        self.wait_for(self.notice.exists, "no notice")
        self.assertLess(time.monotonic() - begin, 1.5)
        self.assertEqual(3, process.wait(HANG_LIMIT))
        self.assertGreater(time.monotonic() - begin, 1.9)  # of 12 s, 10 are left
        self.assert_result(exitCode=3, stopSignal=15, message="exit code 3 after SIGTERM was forwarded to it")

    def test_short_grace_has_no_time_to_wait(self):
        process, launcher = self.start_saving(UNTIL_TERM, "--notice=file", "--grace-seconds=10")
        os.kill(launcher, signal.SIGTERM)
        self.assertEqual(3, process.wait(HANG_LIMIT))
        self.assertTrue(self.notice.exists())

    def test_second_signal_is_forwarded_at_once(self):
        process, launcher = self.start_saving("trap 'exit 4' INT; " + UNTIL_TERM, *LONG_BY_FILE)
        os.kill(launcher, signal.SIGTERM)
        self.wait_for(self.notice.exists, "no notice")
        first = self.notice.read_text()
        self.assertIsNone(process.poll())
        os.kill(launcher, signal.SIGINT)
        self.assertEqual(4, process.wait(HANG_LIMIT))
        self.assertEqual(first, self.notice.read_text())
        self.assert_result(exitCode=4, stopSignal=2)

    def test_signal_from_inside_is_no_notice(self):
        script = "trap 'exit 7' TERM; kill -TERM $PPID; while :; do sleep 0.02; done"
        process = self.start("sh", "-c", script, flags=self.flags(*LONG_BY_FILE), wrapper=OWN_PIDS)
        self.assertEqual(7, process.wait(HANG_LIMIT))
        self.assert_result(exitCode=7, stopSignal=None)
        self.assertFalse(self.notice.exists())

    def test_exit_before_the_notice_was_not_told(self):
        """The launcher finds both at once: the end of the command and the signal that came later."""
        process, launcher = self.start_saving("trap 'exit 0' USR1; " + UNTIL_TERM)
        command = children(launcher)[0]
        os.kill(launcher, signal.SIGSTOP)
        os.kill(command, signal.SIGUSR1)
        self.wait_for(lambda: pathlib.Path(f"/proc/{command}/stat").read_text().split(") ")[1][0] == "Z", "it lives")
        os.kill(launcher, signal.SIGTERM)
        os.kill(launcher, signal.SIGCONT)
        process.wait(HANG_LIMIT)
        self.assert_result(exitCode=0, stopSignal=None)

    def test_notice_that_cannot_be_written_delays_nothing(self):
        script = "mkdir -p \"$GPUPOOL_NOTICE_FILE/x\"; " + UNTIL_TERM
        process, launcher = self.start_saving(script, *LONG_BY_FILE)
        os.kill(launcher, signal.SIGTERM)
        _, err = process.communicate(timeout=HANG_LIMIT)
        self.assertEqual(3, process.returncode)
        self.assertIn(b"the command is not told that it will be stopped: cannot store", err)

    def test_every_user_may_read_it(self):
        process, launcher = self.start_saving("umask 077; " + UNTIL_TERM)
        os.kill(launcher, signal.SIGTERM)
        process.wait(HANG_LIMIT)
        self.assertEqual(0o644, self.notice.stat().st_mode & 0o777)


class Grace(CheckpointCase):
    def test_command_that_ignores_the_notice(self):
        """Then all is killed at the end of the grace, and the report is in the message nevertheless."""
        script = "trap '' TERM; echo '{\"step\":3}' > \"$GPUPOOL_REPORT_FILE\"; " \
                 "echo ready; while :; do sleep 0.02; done"
        process, launcher = self.start_saving(script)
        self.assertEqual("", self.log.read_text())
        os.kill(launcher, signal.SIGTERM)
        self.wait_for(lambda: self.log.read_text().endswith("}"), "no message")
        self.report.write_text('{"step":4}')
        self.wait_for(lambda: '\\"step\\":4' in self.log.read_text(), "the later report is missing")
        os.kill(launcher, signal.SIGKILL)
        process.wait(HANG_LIMIT)
        result = self.message()
        self.assertEqual(("interrupted", 15, '{"step":4}'),
                         (result["outcome"], result["stopSignal"], result["report"]))
        self.assertFalse(self.stored())

    def test_shell_that_ends_before_what_it_started(self):
        """The report that comes after the end of the command, in the grace, is in the result."""
        process = self.start_ready("sh", "-c", f"{sys.executable} -c \"$SAVES\"; true", flags=self.flags(),
                                   wrapper=OWN_PIDS, env={"SAVES": SAVES_IN_THE_GRACE})
        launcher = children(process.pid)[0]
        os.kill(launcher, signal.SIGTERM)
        process.communicate(timeout=HANG_LIMIT)
        self.assert_result(outcome="signaled", signal=15, stopSignal=15, report='{"step":9}')

    def test_process_that_leaves_the_group_works_on_in_the_grace(self):
        forks = f"trap 'exec {sys.executable} -c \"$LEAVES\"' TERM; echo ready; while :; do sleep 0.02; done"
        for report in ('{"step":9}', None):
            self.setUp()
            process = self.start_ready("sh", "-c", forks, flags=self.flags() if report else [], wrapper=OWN_PIDS,
                                       env={"LEAVES": LEAVES_THE_GROUP, "GPUPOOL_REPORT_FILE": self.report})
            os.kill(children(process.pid)[0], signal.SIGTERM)
            process.communicate(timeout=HANG_LIMIT)
            self.assert_result(exitCode=0, stopSignal=15, report=report)
            self.assertEqual(report is not None, self.report.exists(), "without notice it is killed")

    def test_what_is_left_gets_the_held_signal(self):
        """The command has ended, and a process of its group goes on."""
        left = f"(trap 'echo told >> {self.dir}/left; exit 0' TERM; while :; do sleep 0.02; done) & "
        script = left + "echo ready; while ! [ -e \"$GPUPOOL_NOTICE_FILE\" ]; do sleep 0.02; done"
        process, launcher = self.start_saving(script, "--notice=file", "--grace-seconds=11")
        os.kill(launcher, signal.SIGTERM)
        self.assertEqual(0, process.wait(HANG_LIMIT))
        self.assertEqual("told\n", (self.dir / "left").read_text())
        self.assert_result(exitCode=0, stopSignal=15, message="exit code 0 after the notice of SIGTERM")


class Reports(CheckpointCase):
    def test_last_report(self):
        before = time.time()
        done = self.run_saving("for n in 1 2 3; do echo \"{\\\"step\\\":$n}\" > \"$GPUPOOL_REPORT_FILE\"; done; exit 5")
        self.assertEqual(5, done.returncode)
        result = self.assert_result(exitCode=5, report='{"step":3}', reportError=None)
        written = datetime.datetime.fromisoformat(result["reportedAt"].replace("Z", "+00:00")).timestamp()
        self.assertLess(abs(written - before), 30)

    def test_there_is_none(self):
        self.run_saving("true")
        result = self.assert_result(exitCode=0)
        self.assertFalse({"report", "reportedAt", "reportError"} & result.keys())

    def test_whatever_else_is_there(self):
        target = self.dir / "secret"
        target.write_text("secret")
        for script, error in ((f'ln -s {target} "$F"', "is a link"), ('mkfifo "$F"', "is no regular file"),
                              ('mkdir "$F"', "is no regular file"), ('ln -s / "$F"', "is a link"),
                              ('head -c 301 /dev/zero | tr "\\0" x > "$F"', "has more than 300 bytes"),
                              ('truncate -s 1T "$F"', "has more than 300 bytes")):
            self.setUp()
            self.run_saving('F="$GPUPOOL_REPORT_FILE"; ' + script)
            self.assert_result(exitCode=0, report=None, reportedAt=None, reportError=error)
            self.assertNotIn("secret", self.log.read_text())

    def test_text_is_for_the_operator_to_judge(self):
        self.run_saving("printf 'no \"JSON\"\\033[2J\\n' > \"$GPUPOOL_REPORT_FILE\"")
        self.assert_result(exitCode=0, report='no "JSON"')

    def test_result_keeps_its_size(self):
        script = ("head -c 300 /dev/zero | tr '\\0' '\"' > \"$GPUPOOL_REPORT_FILE\"; "
                  "i=0; while [ $i -lt 400 ]; do echo \"line $i\"; i=$((i+1)); done")
        for limit in (1000, 3072):
            self.setUp()
            self.run_saving(script, f"--result-bytes={limit}")
            result = self.assert_result(exitCode=0, report='"' * 300)
            self.assertLessEqual(self.log.stat().st_size, limit)
            self.assertTrue(result["tail"].endswith("line 399"))
        self.setUp()
        self.run_saving(script, "--result-bytes=500")
        self.assertNotIn("report", self.result())

    def test_launcher_that_was_killed_and_starts_again(self):
        process = self.start("sh", "-c", "echo '{\"step\":5}' > \"$GPUPOOL_REPORT_FILE\"; echo $$; exec sleep 1000",
                             flags=self.flags())
        self.kill_and_wait_for(process, int(process.stdout.readline()))
        for _ in range(2):  # the second time it repeats what it has stored
            self.log.write_text("")
            self.assertEqual(1, self.run_saving("true").returncode)
            self.assert_result(outcome="interrupted", report='{"step":5}', stopSignal=None)
            self.report.unlink(missing_ok=True)


class Directory(CheckpointCase):
    def run_as_nobody(self, path):
        self.dir.chmod(0o755)
        self.state.chmod(0o777)
        self.log.chmod(0o666)
        return self.run_launcher("touch", str(self.dir / "ran"), flags=[f"--checkpoint-dir={path}"],
                                 wrapper=["setpriv", f"--reuid={NO_USER}", f"--regid={NO_USER}", "--clear-groups"])

    def assert_refused(self, done, *texts):
        self.assertEqual(125, done.returncode)
        result = self.assert_result(outcome="notStarted", exitCode=125, reason="CheckpointDirectory")
        for text in texts:
            self.assertIn(text, result["message"])
            self.assertIn(text, done.stderr.decode())
        self.assertFalse((self.dir / "ran").exists())
        self.assertFalse((self.state / "mark").exists())

    def test_is_made_where_it_is_missing(self):
        done = self.run_launcher("sh", "-c", "cd \"$GPUPOOL_CHECKPOINT_DIR\" && touch step-1",
                                 flags=[f"--checkpoint-dir={self.checkpoints}/a/b/"])
        self.assertEqual(0, done.returncode)
        self.assertTrue((self.checkpoints / "a/b/step-1").exists())

    def test_what_is_in_it_stays(self):
        self.checkpoints.mkdir()
        (self.checkpoints / "step-1").touch()
        self.run_saving("true")
        self.assertEqual(["step-1"], [path.name for path in self.checkpoints.iterdir()])

    def test_not_writable(self):
        self.checkpoints.mkdir(mode=0o755)
        self.assert_refused(self.run_as_nobody(self.checkpoints), f"user {NO_USER}, group {NO_USER} cannot write to",
                            f"{self.checkpoints}: Permission denied", "fsGroup")

    def test_cannot_be_made(self):
        self.assert_refused(self.run_as_nobody(self.checkpoints / "a"),
                            f"user {NO_USER}, group {NO_USER} cannot create",
                            f"{self.checkpoints}/a: Permission denied")

    def test_is_a_file(self):
        self.checkpoints.touch()
        self.assert_refused(self.run_as_nobody(self.checkpoints), f"{self.checkpoints}: Not a directory")
        self.setUp()
        self.checkpoints.touch()
        self.assert_refused(self.run_as_nobody(self.checkpoints / "a"), f"{self.checkpoints}/a: Not a directory")

    def test_is_read_only_even_for_root(self):
        self.checkpoints.mkdir()
        mounted = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"',
                   str(self.checkpoints)]
        done = self.run_launcher("touch", str(self.dir / "ran"), flags=self.flags(), wrapper=mounted)
        self.assert_refused(done, f"{self.checkpoints}: Read-only file system")

    def test_says_it_again_when_it_is_started_again(self):
        self.checkpoints.touch()
        for _ in range(2):
            self.log.write_text("")
            self.assertEqual(125, self.run_saving("true").returncode)
            self.assert_result(reason="CheckpointDirectory")

    def test_ranks_that_wait_for_rank_0_do_not_wait_for_this(self):
        self.checkpoints.touch()
        done = self.run_launcher("true", flags=self.flags("--nnodes=2", "--rank=1", "--master-addr=127.0.0.1",
                                                          "--master-port=1"))
        self.assertEqual(125, done.returncode)
        self.assert_result(reason="CheckpointDirectory", rank=1)

    def test_many_make_it_at_once(self):
        runs = []
        for index in range(8):
            state = self.dir / f"state-{index}"
            state.mkdir()
            runs.append(subprocess.Popen(self.launch("true", flags=[f"--state-dir={state}",
                                                                    f"--checkpoint-dir={self.checkpoints}/a/b/c"])))
        self.assertEqual([0] * 8, [run.wait(HANG_LIMIT) for run in runs])
