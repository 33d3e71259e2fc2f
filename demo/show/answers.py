# SPDX-License-Identifier: Apache-2.0
"""What commands of `kubectl gpupool` answer while the jobs run."""

import threading
from typing import Iterable

from demo.show.errors import DemoError
from demo.show.kubectl import Kubectl
from demo.show.picture import used_gpus
from tests.kit.api import Object


class Answer:
    """The newest answer to one command. It is asked for on a thread of its own, so that the screen goes on."""

    def __init__(self, kubectl: Kubectl, *command: str) -> None:
        self._kubectl, self.command = kubectl, ("gpupool", *command)
        self._thread: threading.Thread | None = None
        self._text, self._problem = "", ""

    def ask(self) -> bool:
        """False if the last question has no answer yet; nothing is asked then."""
        if self._thread and self._thread.is_alive():
            return False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return True

    def text(self) -> str:
        """Waits for an answer that is under way. A DemoError if none was asked for, or if the command has failed."""
        if self._thread:
            self._thread.join()
        if self._problem or not self._text:
            raise DemoError(self._problem or f"kubectl {' '.join(self.command)} was never asked for")
        return self._text

    def _run(self) -> None:
        try:
            self._text = self._kubectl.run(*self.command).rstrip()
        except DemoError as error:
            self._problem = str(error)


class BusiestTop:
    """`top` at the moment at which most GPUs were in use."""

    def __init__(self, kubectl: Kubectl) -> None:
        self.answer = Answer(kubectl, "top", "--once")
        self._used = -1

    def look_at(self, nodes: Iterable[Object]) -> None:
        used = used_gpus(nodes)
        if used > self._used and self.answer.ask():
            self._used = used


class WhyOfWaiting:
    """`why` of a job, asked once when it waits for nodes that others have."""

    def __init__(self, kubectl: Kubectl, job: str) -> None:
        self.answer = Answer(kubectl, "why", "-n", "default", job)
        self._job, self._asked = job, False

    def look_at(self, jobs: dict[str, Object]) -> None:
        status = jobs.get(self._job, {}).get("status", {})
        if not self._asked and (status.get("phase"), status.get("reason")) == ("Queued", "WaitingForNodes"):
            self._asked = self.answer.ask()
