# SPDX-License-Identifier: Apache-2.0
"""The checker as a process of its own."""

import json
import os
import queue
import subprocess
import threading
from typing import Any

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check")
LIMIT = 180  # only for hangs


class CheckerProcess:
    """A context manager; complaints may be read at any time. record: a file for all that it sees."""

    def __init__(self, kubeconfig: str, record: str | None = None) -> None:
        self._arguments = [kubeconfig, *([record] if record else [])]
        self._started: subprocess.Popen | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self.complaints = []  # {"rule": ..., "what": ..., "revision": ...}
        self.checked = {}  # rule: how often, known at the end
        self.billed = []  # segments of bills, known at the end
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "CheckerProcess":
        self._started = subprocess.Popen([PROGRAM, *self._arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                         text=True)
        self._reader.start()
        self._answer("ready")
        return self

    @property
    def _process(self) -> Any:
        """Its pipes are there."""
        if self._started is None:
            raise AssertionError("the checker was not started")
        return self._started

    def __exit__(self, *_: Any) -> None:
        self._process.stdin.close()
        self._reader.join(LIMIT)
        self._process.terminate()  # has ended by itself unless it hangs
        self._process.wait(20)

    def ask(self, question: str) -> None:
        """explained or empty; when this returns all complaints about what has happened until now are there."""
        self._process.stdin.write(question + "\n")
        self._process.stdin.flush()
        self._answer("done")

    def show(self) -> str:
        return "\n".join(f"{c['rule']}: {c['what']} (revision {c['revision']})" for c in self.complaints)

    def _answer(self, expected: str) -> None:
        said = self._answers.get(timeout=LIMIT)
        assert said == expected, f"the checker says {said!r} instead of {expected!r}\n{self.show()}"

    def _read(self) -> None:
        for line in self._process.stdout:
            if not line.startswith("{"):
                self._answers.put(line.strip())
                continue
            said = json.loads(line)
            if "checked" in said:
                self.checked, self.billed = said["checked"], said["billed"]
            else:
                self.complaints.append(said)
        self._answers.put("nothing more")
