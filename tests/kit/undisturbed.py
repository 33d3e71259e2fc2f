# SPDX-License-Identifier: Apache-2.0
"""The training of examples/checkpoint as processes of this machine, without pauses, and nobody interrupts it."""

import os
import re
import socket
import subprocess
import sys
from typing import Any

from tests.kit.paths import EXAMPLES

DIGEST = re.compile(r"final weights SHA256=([0-9a-f]{64})")
LIMIT = 240  # seconds, for hangs


class Undisturbed:
    """A context manager; what still runs at its end is killed."""

    def __init__(self, folder: str, ranks: int) -> None:
        """folder: for its checkpoints; it is made."""
        self._folder, self._ranks = folder, ranks
        self._started: list[subprocess.Popen] = []

    def __enter__(self) -> "Undisturbed":
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        environment = {**os.environ, "STEP_SECONDS": "0", "WORLD_SIZE": str(self._ranks), "MASTER_ADDR": "127.0.0.1",
                       "MASTER_PORT": str(port), "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1",
                       "GPUPOOL_CHECKPOINT_DIR": self._folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, str(EXAMPLES / "checkpoint" / "train.py")]
        for rank in range(self._ranks):
            self._started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                                  env={**environment, "RANK": str(rank)}))
        return self

    def __exit__(self, *_: Any) -> None:
        for process in self._started:
            if process.poll() is None:
                process.kill()
            process.communicate()

    def digests(self) -> set[str]:
        """Of the final weights of all ranks: one, if they agree. Waits for their end; once."""
        return set(DIGEST.findall("".join(process.communicate(timeout=LIMIT)[0] for process in self._started)))
