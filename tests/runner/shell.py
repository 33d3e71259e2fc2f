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


class Shell:
    def run(self, log, *command, env=None, limit=1800, show=False):
        """Runs to the end; both streams go to build/logs/LOG.log, and with `show` to the terminal too."""
        LOGS.mkdir(parents=True, exist_ok=True)
        path = LOGS / f"{log}.log"
        with open(path, "w", encoding="utf-8") as output:
            process = subprocess.Popen([str(word) for word in command], cwd=ROOT, env={**os.environ, **(env or {})},
                                       stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        try:
            code = self._wait(process, path, limit, show)
        except BaseException:
            self._stop(process)
            raise
        return Done(code, path.read_text(encoding="utf-8", errors="replace"))

    def _wait(self, process, path, limit, show):
        end = time.monotonic() + limit
        with open(path, encoding="utf-8", errors="replace") as reader:
            while True:
                try:
                    code = process.wait(timeout=0.5)
                except subprocess.TimeoutExpired:
                    code = None
                if show:
                    sys.stdout.write(reader.read())
                    sys.stdout.flush()
                if code is not None:
                    return code
                if time.monotonic() > end:
                    raise RuntimeError(f"{Path(process.args[0]).name} did not end within {limit} s, see {path}")

    @staticmethod
    def _stop(process):
        """SIGTERM lets it remove what it made; whoever of its group is left then is killed."""
        try:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=STOP_LIMIT)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
