# SPDX-License-Identifier: Apache-2.0
"""gpupool-operator as a process of this machine."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from typing import Sequence

from demo.show import kept
from demo.show.errors import DemoError
from tests.kit.paths import program

READY_TIMEOUT = 60
PROGRAM = "gpupool-operator"
FILE = "operator.pid"
MAX_RESTARTS = 5
END_OF_LOG = 20


class Operator:
    """Starts the operator, and starts it again when it dies: a crash of it must cost no job anything."""

    def __init__(self, environment: dict[str, str], keep: bool, flags: Sequence[str] = ()) -> None:
        folder = environment["GPUPOOL_CLUSTER_DIR"]
        self.log_path = os.path.join(folder, "log", "operator")
        self._pid_path = os.path.join(folder, FILE)
        self._environment, self._keep, self._flags = environment, keep, flags
        self._started: subprocess.Popen | None = None
        self.restarts = self._log_start = 0

    @property
    def _process(self) -> subprocess.Popen:
        if self._started is None:
            raise DemoError("the operator was not started")
        return self._started

    @property
    def pid(self) -> int:
        return self._process.pid

    def start(self) -> None:
        command = [program(PROGRAM), "--kubeconfig", self._environment["KUBECONFIG"],
                   "--metrics-bind-address", "127.0.0.1:0", *self._flags]
        if not self._keep:  # not even a killed demo leaves an operator behind
            command = ["setpriv", "--pdeathsig", "TERM", *command]
        with open(self.log_path, "ab") as log:
            self._log_start = log.tell()
            self._started = subprocess.Popen(command, env=self._environment, stdin=subprocess.DEVNULL, stdout=log,
                                             stderr=log, start_new_session=True, cwd="/")
        kept.note(self._pid_path, self.pid)

    def wait_ready(self) -> int:
        """Until its caches are filled; returns the port of /metrics."""
        answer, end = "no answer on /readyz", time.monotonic() + READY_TIMEOUT
        while time.monotonic() < end:
            if self._process.poll() is not None:
                raise DemoError(f"{self._how_it_ended()} before it was ready; the end of its log:\n{self.log_end()}")
            port = self._port()
            if port:
                ready, answer = _ask_ready(port)
                if ready:
                    return port
            time.sleep(0.1)
        raise DemoError(f"the operator is not ready after {READY_TIMEOUT} s: {answer}; the end of its log:\n"
                        f"{self.log_end()}")

    def restart_if_dead(self) -> str | None:
        """A line to print if it died and was started again, else nothing. An operator that keeps dying is an error."""
        if self._process.poll() is None:
            return None
        how, end = self._how_it_ended(), self.log_end(5)
        if self.restarts == MAX_RESTARTS:
            raise DemoError(f"{how} for the {MAX_RESTARTS + 1}th time; the end of its log:\n{self.log_end()}")
        self.restarts += 1
        self.start()
        return f"{how}; started again as process {self.pid}. The end of its log was:\n{end}"

    def log_end(self, lines: int = END_OF_LOG) -> str:
        try:
            with open(self.log_path, encoding="utf-8", errors="replace") as log:
                return "".join(f"  {line}" for line in log.readlines()[-lines:]).rstrip("\n") or "  (empty)"
        except OSError as error:
            return f"  ({error})"

    def save_log(self) -> str | None:
        """A copy of the log that outlives the cluster."""
        try:
            path = os.path.join(tempfile.mkdtemp(prefix="gpupool-demo-"), "operator.log")
            shutil.copy(self.log_path, path)
        except OSError:
            return None
        return path

    def stop(self) -> None:
        if self._started is None or self._started.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(kept.STOP_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            print(f"the operator did not stop within {kept.STOP_TIMEOUT} s of SIGTERM and was killed")

    def _how_it_ended(self) -> str:
        code = self._process.returncode
        return (f"the operator was killed by {signal.Signals(-code).name}" if code < 0
                else f"the operator ended with code {code}")

    def _port(self) -> int | None:
        """As the log tells it, once this process has written that line."""
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            log.seek(self._log_start)
            for line in log:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if "port" in entry and "metrics" in entry.get("msg", ""):
                    return int(entry["port"])
        return None


def stop_kept(folder: str) -> None:
    """Stops the operator that KEEP=1 left."""
    kept.stop(os.path.join(folder, FILE), PROGRAM)


def _ask_ready(port: int) -> tuple[bool, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)  # asks no proxy
    try:
        connection.request("GET", "/readyz")
        answer = connection.getresponse()
        return answer.status == 200, answer.read().decode(errors="replace").strip()
    except OSError as error:
        return False, str(error)
    finally:
        connection.close()
