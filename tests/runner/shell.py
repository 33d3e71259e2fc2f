"""Runs programs: each in a process group of its own, with a time limit, leaving a log."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOGS = ROOT / "build" / "logs"
STOP_LIMIT = 60  # seconds for a program to clean up after SIGTERM


def prepare_environment():
    """Debian's tools come first, and a clone in another folder finds what was compiled in this one."""
    os.chdir(ROOT)
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin:" + os.environ.get("PATH", "")
    os.environ.update(CCACHE_BASEDIR=str(ROOT), CCACHE_NOHASHDIR="1", PYTHONDONTWRITEBYTECODE="1",
                      CTEST_COLOR_OUTPUT="0", CLICOLOR="0")
    # Settings of whoever starts us would choose which tests run, or where.
    for name in ("TEST_KUBECONFIG", "KUBECONFIG", "KUBECTL", "KEEP", "E2E_CLUSTER", "FAILFAST", "BUILD_DIR",
                 "GPUPOOL_SANITIZE", "GTEST_FILTER", "GTEST_REPEAT", "GTEST_TOTAL_SHARDS"):
        os.environ.pop(name, None)


class Done:
    def __init__(self, code, output):
        self.code, self.output = code, output

    def tail(self, lines=60):
        return "\n".join(self.output.splitlines()[-lines:])


class Running:
    """A program that was started, and what it has printed."""

    def __init__(self, log, command, env):
        LOGS.mkdir(parents=True, exist_ok=True)
        self.path = LOGS / f"{log}.log"
        with open(self.path, "w", encoding="utf-8") as output:
            self.process = subprocess.Popen(
                [str(word) for word in command], cwd=ROOT, env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self._reader = open(self.path, encoding="utf-8", errors="replace")  # pylint: disable=consider-using-with
        self._part = ""

    def print_news(self, whole_lines):
        """With whole lines, several programs can share a terminal."""
        text = self._part + self._reader.read()
        cut = text.rfind("\n") + 1 if whole_lines and self.process.poll() is None else len(text)
        self._part = text[cut:]
        sys.stdout.write(text[:cut])
        sys.stdout.flush()

    def done(self):
        self._reader.close()
        return Done(self.process.returncode, self.path.read_text(encoding="utf-8", errors="replace"))

    def stop(self):
        """SIGTERM lets it remove what it made; whoever of its group is left then is killed."""
        try:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=STOP_LIMIT)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


class Shell:
    def run(self, log, *command, env=None, limit=1800, show=False):
        """Runs to the end; both streams go to build/logs/LOG.log, and with `show` to the terminal too."""
        return self.run_together({log: command}, env, limit, show)[0]

    def run_together(self, commands, env=None, limit=1800, show=False):
        """The same for several programs at once, {log: command}; results in that order."""
        running = []
        try:
            for log, command in commands.items():
                running.append(Running(log, command, env))
            self._wait(running, limit, show)
        except BaseException:
            for program in running:
                program.stop()
            raise
        return [program.done() for program in running]

    @staticmethod
    def _wait(running, limit, show):
        end = time.monotonic() + limit
        while True:
            left = [program for program in running if program.process.poll() is None]
            if left:
                try:
                    left[0].process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    pass
            if show:
                for program in running:
                    program.print_news(len(running) > 1)
            if not left:
                return
            if time.monotonic() > end:
                raise RuntimeError(f"{Path(left[0].process.args[0]).name} did not end within {limit} s, see {left[0].path}")
