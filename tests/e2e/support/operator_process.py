"""gpupool-operator as a process of its own."""

import http.client
import json
import os
import subprocess
import time

from .waiting import wait_for


class OperatorProcess:
    """Not started until start(); start() again after kill() or stop() is the restarted operator."""

    def __init__(self, binary, kubeconfig, log_path, arguments=()):
        self._command = [binary, "--kubeconfig", kubeconfig, "--metrics-bind-address", "127.0.0.1:0", *arguments]
        self._process = None
        self._begin = 0
        self._ended_by_test = False
        self.log_path = log_path
        self.environment = {}  # of the next start, beside this process's own

    @property
    def pid(self):
        return self._process.pid

    def exit_code(self):
        """None while it runs."""
        return self._process.poll()

    def running(self):
        return self._process is not None and self._process.poll() is None

    def died(self):
        """It has ended, and no test ended it."""
        return self._process is not None and self._process.poll() is not None and not self._ended_by_test

    def start(self, ready=True):
        assert not self.running(), "the operator runs already"
        self._ended_by_test = False
        with open(self.log_path, "ab") as log:
            self._begin = log.tell()
            self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
                                             env={**os.environ, **self.environment})
        if ready:
            wait_for("the operator to be ready", self._is_ready, detail=self.tail)
        return self

    def _is_ready(self):
        if not self.running():
            raise AssertionError(f"the operator ended with code {self._process.returncode}\n{self.tail()}")
        return self.port() and self.http("/readyz")[0] == 200

    def log(self):
        """What this run has logged so far."""
        with open(self.log_path, "rb") as log:
            log.seek(self._begin)
            return log.read().decode(errors="replace")

    def tail(self):
        return "operator log:\n" + "\n".join(self.log().splitlines()[-15:])

    def port(self):
        for line in self.log().splitlines():
            if "serving metrics" in line:
                return int(json.loads(line)["port"])
        return None

    def http(self, path):
        """(status, body); (0, '') if nothing listens, or not until the answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=60)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except ConnectionError:
            return 0, ""
        finally:
            connection.close()

    def metric(self, prefix):
        """The sum of all samples whose name and labels begin with prefix."""
        lines = self.http("/metrics")[1].splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(prefix))

    def signal(self, number):
        self._process.send_signal(number)

    def kill(self):
        """As the kernel would: no chance to clean up."""
        self._ended_by_test = True
        self._process.kill()
        self._process.wait(timeout=20)

    def stop(self):
        """SIGTERM. (exit code, seconds it took)."""
        self._ended_by_test = True
        begin = time.monotonic()
        self._process.terminate()
        try:
            code = self._process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError("the operator did not end within 30 s of SIGTERM\n" + self.tail()) from None
        return code, time.monotonic() - begin


def operator_binary():
    build = os.environ.get("BUILD_DIR") or os.path.join(ROOT, "build")
    return os.path.join(os.path.abspath(build), "bin", "gpupool-operator")


def launcher_binary():
    return os.path.join(os.path.dirname(operator_binary()), "gpupool-launch")


ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
