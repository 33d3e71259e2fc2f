# SPDX-License-Identifier: Apache-2.0
"""The launchers of workers without machines: they tell the numbers of programs that run."""

import random
import socketserver
import threading
from types import TracebackType

from tests.kit.waiting import wait_for

PORT = 29499


class PlayedLaunchers:
    """One server for the workers of all jobs: whoever asks sends the UID of the job that he means."""

    def __init__(self) -> None:
        self.address = ".".join(["127", *(str(random.randint(1, 250)) for _ in range(3))])  # of all its workers
        self.asked: list[str] = []  # UIDs, in the order of the questions
        self._lines: dict[str, str] = {}
        self._told: set[str] = set()
        launchers = self

        class Answer(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                uid = self.rfile.readline(64).decode().strip()
                launchers.asked.append(uid)
                if uid in launchers._lines:
                    self.wfile.write(f"gpupool-metrics 1\n{launchers._lines[uid]}".encode())
                    launchers._told.add(uid)

        socketserver.ThreadingTCPServer.allow_reuse_address = True
        self._server = socketserver.ThreadingTCPServer((self.address, PORT), Answer)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> "PlayedLaunchers":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_told(self, *job_uids: str) -> None:
        """Until somebody has asked for the numbers of these jobs since they are there."""
        wait_for("the numbers of trials to be asked for", lambda: self._told.issuperset(job_uids))

    def tell(self, job_uid: str, metric: str, *values: str) -> None:
        """The metric at each step that was asked for and has been reached."""
        self._lines[job_uid] = " ".join([metric, *(f"{value} {value} {value}" for value in values)]) + "\n" if values else ""
