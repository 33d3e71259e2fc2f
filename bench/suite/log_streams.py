# SPDX-License-Identifier: Apache-2.0
"""What it costs to follow the logs of many ranks: the processor and memory of kubectl-gpupool, over TLS."""

import contextlib
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Iterator

from bench.suite.programs import binary, cpu_seconds
from bench.suite.results import Results

SERVER = Path(__file__).with_name("log_server.py")


@contextlib.contextmanager
def _server(folder: Path, ranks: int, rate: float) -> Iterator[Path]:
    """A kubeconfig for it."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=bench", "-keyout", folder / "key.pem", "-out", folder / "cert.pem"],
                   check=True, capture_output=True)
    with subprocess.Popen([sys.executable, SERVER, folder, str(ranks), str(rate)], stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            port = int(process.stdout.readline()) if process.stdout else 0
            config = folder / "kubeconfig"
            config.write_text(f"""apiVersion: v1
kind: Config
clusters: [{{name: c, cluster: {{server: "https://127.0.0.1:{port}", insecure-skip-tls-verify: true}}}}]
contexts: [{{name: c, context: {{cluster: c, user: u, namespace: lab}}}}]
users: [{{name: u, user: {{token: t}}}}]
current-context: c
""", encoding="utf-8")
            yield config
        finally:
            process.kill()


class _Lines:
    """Reads the output of a program, and counts the lines that are not the next one of their rank."""

    def __init__(self, pipe: Any) -> None:
        self.count, self.wrong, self.first = 0, 0, 0.0
        self._next: dict[bytes, int] = {}
        self._thread = threading.Thread(target=self._read, args=(pipe,))
        self._thread.start()

    def _read(self, pipe: Any) -> None:
        for line in pipe:
            words = line.split(None, 3)
            rank, number = (words[0], words[2]) if words[1] == b"|" else (b"", words[0])
            self.first = self.first or time.perf_counter()
            self.wrong += int(number) != self._next.get(rank, 0)
            self._next[rank] = int(number) + 1
            self.count += 1

    def join(self) -> None:
        self._thread.join()


def _follow(results: Results, ranks: int, rate: float, seconds: float) -> None:
    name = f"{ranks} ranks x {rate:g} lines/s"
    with tempfile.TemporaryDirectory(prefix="gpupool-bench-") as folder, _server(Path(folder), ranks, rate) as config:
        began = time.perf_counter()
        command = [binary("kubectl-gpupool"), "--kubeconfig", str(config), "logs", "-f", "resnet", "--all",
                   "--max-streams", str(ranks)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            lines = _Lines(process.stdout)
            end = time.monotonic() + 60
            while lines.count < ranks * 2 and time.monotonic() < end:
                time.sleep(0.05)
            opened = cpu_seconds(process.pid)
            count, since = lines.count, time.perf_counter()
            time.sleep(seconds)
            spent, passed = cpu_seconds(process.pid) - opened, time.perf_counter() - since
            shown = (lines.count - count) / passed
            status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii").splitlines()
            process.kill()
            lines.join()
    results.add("logs", f"{name}: processor", 100 * spent / passed, "% of a core")
    results.add("logs", f"{name}: lines shown", shown, "1/s")
    results.add("logs", f"{name}: to open all", opened * 1e3, "ms of processor")
    results.add("logs", f"{name}: first line after", 1e3 * (lines.first - began), "ms")
    results.add("logs", f"{name}: memory", next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")) / 1024,
                "MiB")
    if lines.wrong or not lines.count:
        results.add("logs", f"{name}: lines that are not the next one", lines.wrong or 1, "error")


def measure(results: Results, smoke: bool) -> None:
    for ranks, rate in ((10, 20.0),) if smoke else ((1, 100.0), (100, 100.0), (1000, 10.0), (1000, 1.0)):
        _follow(results, ranks, rate, 1 if smoke else 10)
