# SPDX-License-Identifier: Apache-2.0
"""How fast gpupool-carry brings a file beside curl, how fast it cleans a CSV file, and what memory both take."""

import contextlib
import json
import os
import random
import shutil
import signal
import socket
import tempfile
import threading
import time
from pathlib import Path
from typing import BinaryIO

from bench.suite.programs import binary
from bench.suite.results import Results

MIB = 1 << 20
LIMIT = 300  # seconds of one program


class FileServer:
    """Sends one file by sendfile() for each request, on the loopback."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/file"

    def __enter__(self) -> "FileServer":
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client = self._listener.accept()[0]
            except OSError:
                return
            with contextlib.suppress(OSError), client, open(self._path, "rb") as file:  # the client tells what failed
                self._answer(client, file)

    @staticmethod
    def _answer(client: socket.socket, file: BinaryIO) -> None:
        client.settimeout(LIMIT)
        head = b""
        while b"\r\n\r\n" not in head:
            part = client.recv(1 << 16)
            if not part:
                return
            head += part
        size = os.fstat(file.fileno()).st_size
        client.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nETag: \"1\"\r\nConnection: close\r\n\r\n".encode())
        client.sendfile(file)


def _run(command: list[str]) -> tuple[float, int]:
    """Seconds, and the largest memory in KiB."""
    began = time.perf_counter()
    quiet = os.open(os.devnull, os.O_WRONLY)
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 1)])
    os.close(quiet)
    killer = threading.Timer(LIMIT, os.kill, (pid, signal.SIGKILL))
    killer.start()
    _, status, usage = os.wait4(pid, 0)
    killer.cancel()
    if status != 0:
        raise RuntimeError(f"{' '.join(command)[:300]}: status {status}")
    return time.perf_counter() - began, usage.ru_maxrss


def _fetch(folder: Path, name: str, items: list[dict]) -> list[str]:
    for part in ("work", "state"):
        (folder / name / part).mkdir(parents=True)
    return [binary("gpupool-carry"), "fetch", "--source", json.dumps({"sizeLimit": "100Gi", "items": items}), "--work",
            str(folder / name / "work"), "--state", str(folder / name / "state"), "--termination-log", str(folder / name / "log")]


def _download(results: Results, folder: Path, mebibytes: int, turns: int) -> None:
    file = folder / "file"
    with open(file, "wb") as out:
        block = random.Random(1).randbytes(MIB)
        for _ in range(mebibytes):
            out.write(block)
    ours, theirs, memory = [], [], 0
    curl = shutil.which("curl") or "curl"
    with FileServer(file) as server:
        for turn in range(turns):
            theirs.append(_run([curl, "-s", "-S", "-o", str(folder / "curl"), server.url])[0])
            seconds, kib = _run(_fetch(folder, f"d{turn}", [{"path": "file", "http": {"url": server.url}}]))
            ours.append(seconds)
            memory = max(memory, kib)
            shutil.rmtree(folder / f"d{turn}")
    results.add("carry", f"download of {mebibytes} MiB, by curl", mebibytes / min(theirs), "MiB/s")
    results.add("carry", f"download of {mebibytes} MiB, with SHA-256 and fsync", mebibytes / min(ours), "MiB/s")
    results.add("carry", "the same, of curl's rate", 100 * min(theirs) / min(ours), "%")
    results.add("carry", "memory of a download", memory / 1024, "MiB")


def _csv(results: Results, folder: Path, mebibytes: int, turns: int) -> None:
    dice = random.Random(2)
    lines = "".join(",".join(f"{dice.uniform(-1000, 1000):.4f}" if dice.random() > 0.01 else "" for _ in range(10)) + "\n"
                    for _ in range(12_000))
    header = ",".join(f"c{i}" for i in range(10)) + "\n"
    file = folder / "table.csv"
    with open(file, "w", encoding="ascii") as out:
        out.write(header)
        while out.tell() < mebibytes * MIB:
            out.write(lines)
    spec = {"from": "table.csv", "missing": {"default": "Mean"}, "clip": {"default": {"min": "-900", "max": "900"}}}
    times, memory = [], 0
    for turn in range(turns):
        command = _fetch(folder, f"c{turn}", [{"path": "clean.csv", "csv": spec}])
        os.link(file, folder / f"c{turn}" / "work" / "table.csv")
        seconds, kib = _run(command)
        times.append(seconds)
        memory = max(memory, kib)
        shutil.rmtree(folder / f"c{turn}")
    results.add("carry", f"cleaning a CSV file of {mebibytes} MiB", mebibytes / min(times), "MiB/s")
    results.add("carry", "memory of cleaning", memory / 1024, "MiB")


def measure(results: Results, smoke: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="gpupool-bench-", dir="/var/tmp") as name:
        folder = Path(name)
        _run(_fetch(folder, "warm", [{"path": "x", "csv": {"from": "y"}}]) + ["--help"])
        _download(results, folder, 8 if smoke else 512, 1 if smoke else 3)
        _csv(results, folder, 2 if smoke else 100, 1 if smoke else 3)
