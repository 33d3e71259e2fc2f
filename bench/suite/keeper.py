# SPDX-License-Identifier: Apache-2.0
"""The keeper of logs: what it takes in, in which memory, how soon a line of a large log is read; and what pushing costs a launcher."""

import http.server
import json
import os
import resource
import subprocess
import tempfile
import threading
import time
from typing import Any

from bench.suite.results import Results
from tests.keeper.keeper_server import KeeperServer, attempt_token
from tests.keeper.push_client import PushClient, chunk
from tests.kit.paths import launcher_binary

BENCHMARK = "keeper of logs"
FAST = ("--rank-kib-per-second=1048576", "--rank-burst-mib=4096", "--job-mib=8192")
NS = "lab"


class _AllowsAll(http.server.BaseHTTPRequestHandler):
    """An API server that allows everybody everything."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:  # pylint: disable=arguments-differ
        pass

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self) -> None:  # pylint: disable=invalid-name
        self._answer(200, {"metadata": {"name": NS, "uid": "ns", "creationTimestamp": "2020-01-01T00:00:00Z"}})

    def do_POST(self) -> None:  # pylint: disable=invalid-name
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(201, {"status": {"allowed": True}})


def _kubeconfig(folder: str, port: int) -> str:
    path = f"{folder}/kubeconfig"
    with open(path, "w", encoding="utf-8") as target:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "x",
                   "clusters": [{"name": "x", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
                   "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}], "users": [{"name": "x", "user": {}}]}, target)
    return path


def _text(path: str, size: int) -> None:
    """Lines as of a training."""
    with open(path, "w", encoding="utf-8") as target:
        step = 0
        while target.tell() < size:
            target.writelines(f"step {step + i} loss={2.5 / (1 + (step + i) / 1000):.4f} lr=0.001 samples/s={1000 + (step + i) % 97}\n"
                              for i in range(1000))
            step += 1000


def _launch(folder: str, uid: str, keeper: KeeperServer | None, command: list[str]) -> float:
    """Seconds of processor time of a launcher and its command."""
    os.makedirs(folder)
    flags = [] if keeper is None else [f"--keeper=127.0.0.1:{keeper.port}", "--keeper-key=k1", f"--keeper-id={NS}/{uid}/0/pool"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([launcher_binary(), "run", "--state-dir", folder, "--termination-log", f"{folder}/log", "--job=job", *flags, "--", *command],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True,
                   env=dict(os.environ, GPUPOOL_KEEPER_TOKEN=attempt_token(uid, 0, NS).hex()))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(results: Results, smoke: bool) -> None:
    size, ranks = (8 << 20, 20) if smoke else (512 << 20, 1000)
    with tempfile.TemporaryDirectory(prefix="gpupool-bench-") as folder:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _AllowsAll)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        keeper = KeeperServer(_kubeconfig(folder, server.server_address[1]), *FAST)
        try:
            _text(f"{folder}/text", size)
            _take_in(results, keeper, f"{folder}/text")
            _pushing(results, keeper, folder, f"{folder}/text", 0.5 if smoke else 8)
            _many_ranks(results, keeper, ranks)
        finally:
            keeper.close()
            server.shutdown()


def _take_in(results: Results, keeper: KeeperServer, text: str) -> None:
    """One rank at full speed, and a log that is read."""
    client = PushClient(keeper.port)
    client.enter(NS, "large")
    busy = keeper.metric("process_cpu_seconds_total")
    at = 0
    with open(text, "rb") as source:
        while piece := source.read(60_000):
            client.frame(at, chunk(piece, unix_ns=1_700_000_000_000_000_000 + 100 * at))
            at += len(piece)
    client.wait_ack(at)
    busy = keeper.metric("process_cpu_seconds_total") - busy
    client.close()
    attempt = keeper.attempts("token", NS, uid="large")[0]
    results.add(BENCHMARK, "taken in, per second of processor time", at / 1e6 / max(busy, 0.01), "MB")
    results.add(BENCHMARK, "on the disk, of what was taken in", 100 * attempt["bytes"] / at, "%")
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(1_700_000_000 + 99 * at // 1_000_000_000))
    queries: dict[str, dict[str, Any]] = {"its last 10 lines": {"tailLines": 10}, "its last hundredth, by time": {"sinceTime": since}}
    for name, query in queries.items():
        begin = time.monotonic()
        keeper.output("token", NS, "large", timestamps="true", **query)
        results.add(BENCHMARK, name, 1000 * (time.monotonic() - begin), "ms")


def _pushing(results: Results, keeper: KeeperServer, folder: str, text: str, seconds: float) -> None:
    """A launcher whose command prints 10 MB a second."""
    command = ["sh", "-c", f"i=0; while [ $i -lt {int(seconds * 10)} ]; do dd if={text} bs=1000000 count=1 skip=$i 2>/dev/null; sleep 0.1; i=$((i+1)); done"]
    plain = _launch(f"{folder}/plain", "none", None, command)
    pushing = _launch(f"{folder}/pushing", "pushed", keeper, command)
    results.add(BENCHMARK, "processor of a launcher and its command, 10 MB a second", 100 * plain / seconds, "%")
    results.add(BENCHMARK, "the same, pushing", 100 * pushing / seconds, "%")
    results.add(BENCHMARK, "output that is lost then", 100 * keeper.attempts("token", NS, uid="pushed")[0]["lost"] / (seconds * 1e7), "%")


def _many_ranks(results: Results, keeper: KeeperServer, ranks: int) -> None:
    """Each prints 100 lines a second for 5 s."""
    line = b"step 12345 loss=0.1234 lr=0.001 samples/s=1034\n" * 20
    clients = [PushClient(keeper.port) for _ in range(ranks)]
    for rank, client in enumerate(clients):
        client.enter(NS, "many", rank=rank, ranks=ranks)
    busy, begin = keeper.metric("process_cpu_seconds_total"), time.monotonic()
    for piece in range(25):
        for client in clients:
            client.frame(piece * len(line), chunk(line))
        time.sleep(max(0.0, begin + 0.2 * (piece + 1) - time.monotonic()))
    for client in clients:
        client.wait_ack(25 * len(line))
    seconds = time.monotonic() - begin
    results.add(BENCHMARK, f"processors, {ranks} ranks with 100 lines a second", (keeper.metric("process_cpu_seconds_total") - busy) / seconds, "")
    results.add(BENCHMARK, f"memory, {ranks} ranks with 100 lines a second", keeper.metric("process_resident_memory_bytes") / 1e6, "MB")
    for client in clients:
        client.close()
