"""The programs that bench/CMakeLists.txt builds, and the operator."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
STOP_LIMIT = 30
TICKS = os.sysconf("SC_CLK_TCK")


def binary(name):
    path = Path(os.environ.get("BUILD_DIR") or ROOT / "build").resolve() / "bin" / name
    if not os.access(path, os.X_OK):
        sys.exit(f"bench/run: {path} is missing: cmake --build build --target gpupool-operator gpupool-launch bench")
    return str(path)


def call(name, *arguments, limit=900):
    """What the program prints, decoded."""
    command = [binary(name), *map(str, arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, timeout=limit)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}")
    return json.loads(done.stdout)


class Service:
    """A program that runs beside a benchmark; as a context manager it has ended after."""

    def __init__(self, name, *arguments):
        self.name = name
        self._command = [binary(name), *map(str, arguments)]
        self._log = tempfile.NamedTemporaryFile("w+", prefix=f"{name}-", suffix=".log")  # pylint: disable=R1732
        self._process = None

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)
        return self

    def __exit__(self, *_):
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def log(self):
        return Path(self._log.name).read_text(encoding="utf-8", errors="replace")

    def wait_for(self, what, probe, limit=60):
        end = time.monotonic() + limit
        while not probe():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{self.name}: waited for {what}\n{self.log()[-3000:]}")
            time.sleep(0.01)

    def cpu_seconds(self):
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def memory_mib(self, field="VmRSS"):
        for line in Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii").splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        return 0
