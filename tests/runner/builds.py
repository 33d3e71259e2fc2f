# SPDX-License-Identifier: Apache-2.0
"""What is compiled, and ahead of its step: while the steps before it mostly wait."""

import threading
from typing import Any, Iterable, Iterator, Sequence

from tests.kit.paths import ROOT
from tests.runner.shell import Done, Interrupted, Shell

FOLDERS = {"release": ROOT / "build", "asan": ROOT / "build" / "asan", "tsan": ROOT / "build" / "tsan"}
# The folder's target is all tests with what they need; the launcher is a program that tests start.
SANITIZED = ("tests/all", "gpupool-launch")
# Runs a command with processor and disk time that nobody else wants. The first line is for kernels that share
# processors by session first.
_IDLE = ("/bin/sh", "-c",
         "echo 19 2>/dev/null > /proc/self/autogroup; exec /usr/bin/chrt --idle 0 /usr/bin/ionice -c 3 \"$@\"", "sh")
_locks = {preset: threading.Lock() for preset in FOLDERS}  # steps that run beside each other build one at a time


def build(shell: Shell, preset: str, targets: Sequence[str], prefix: Sequence[str] = (),
          log: str = "") -> Iterator[tuple[str, Done]]:
    """Configures and builds; yields what was done and how it ended. Whoever stops reading ends it."""
    for name, command in (("configure", ("cmake", "--preset", preset)),
                          ("build", ("cmake", "--build", "--preset", preset, "--target", *targets))):
        with _locks[preset]:
            done = shell.run(f"{preset}-{log}{name}", *prefix, *command, limit=2 * 3600)
        yield name, done


class BuildAhead:
    """Builds presets in the background. What fails is told by the step that builds it again."""

    def __init__(self, presets: Iterable[str], prefix: Sequence[str]) -> None:
        self._presets, self._command, self._shell = list(presets), (*_IDLE, *prefix), Shell()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def pause(self, paused: bool) -> None:
        self._shell.pause(paused)

    def close(self) -> None:
        self._shell.interrupt()
        self._thread.join()

    def _run(self) -> Any:
        try:
            for preset in self._presets:
                for _, done in build(self._shell, preset, SANITIZED, self._command, "ahead-"):
                    if done.code != 0:
                        return
        except Interrupted:
            pass
