# SPDX-License-Identifier: Apache-2.0
"""Training programs as processes, with the files that gpupool would give them."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "checkpoint"
HANG_LIMIT = 120  # seconds


def wait_until(what, probe):
    end = time.monotonic() + HANG_LIMIT
    while not probe():
        if time.monotonic() > end:
            raise AssertionError(f"waited {HANG_LIMIT} s for {what}")
        time.sleep(0.01)


class ProgramCase(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="gpupool-checkpoint-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.checkpoints = self.folder / "checkpoints"
        self.output = ""

    def rank_folder(self, attempt, rank):
        folder = self.folder / f"attempt-{attempt}-{rank}"
        folder.mkdir(exist_ok=True)
        return folder

    def environment(self, attempt, rank, ranks, port, **more):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("GPUPOOL_")}
        own = self.rank_folder(attempt, rank)
        return {**kept, "PYTHONPATH": str(FOLDER), "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1",
                "GLOO_SOCKET_IFNAME": "lo", "RANK": str(rank), "WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(port), "PET_MASTER_PORT": str(port), "GPUPOOL_ATTEMPT": str(attempt),
                "GPUPOOL_RESUME": "1" if attempt else "0",
                "GPUPOOL_CHECKPOINT_DIR": str(self.checkpoints), "GPUPOOL_GRACE_SECONDS": "30",
                "GPUPOOL_NOTICE_FILE": str(own / "notice.json"), "GPUPOOL_REPORT_FILE": str(own / "report.json"),
                **{k: str(v) for k, v in more.items()}}

    def start(self, program, ranks=1, attempt=0, words=(), **variables):
        """Starts a path, or a text, as all ranks of an attempt; killed at the end of the test if they still run. words: of
        Python before it."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        command = [str(program)] if isinstance(program, Path) else ["-c", program]
        started = []
        for rank in range(ranks):
            process = subprocess.Popen([sys.executable, *words, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       text=True, env=self.environment(attempt, rank, ranks, port, **variables))
            self.addCleanup(self.finish, process)
            started.append(process)
        return started

    @staticmethod
    def finish(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def end(self, processes, code=0):
        """What all ranks printed; they must end with this code, or with that of the signal."""
        self.output = "".join(process.communicate(timeout=HANG_LIMIT)[0] for process in processes)
        self.assertEqual({code}, {process.returncode for process in processes}, self.output)
        return self.output

    def give_notice(self, attempt, rank):
        """As the launcher does: by rename."""
        part = self.rank_folder(attempt, rank) / "part"
        part.write_text('{"deadline":"2026-11-24T10:00:00Z"}', encoding="ascii")
        os.replace(part, self.rank_folder(attempt, rank) / "notice.json")

    def report(self, attempt, rank):
        """None if there is none."""
        path = self.rank_folder(attempt, rank) / "report.json"
        if not path.exists():
            return None
        text = path.read_text(encoding="ascii")
        self.assertLessEqual(len(text), 300)
        return json.loads(text)

    def saved(self):
        """The names in the checkpoints' directory."""
        return sorted(os.listdir(self.checkpoints)) if self.checkpoints.exists() else []
