# SPDX-License-Identifier: Apache-2.0
"""The page of a kept demo: kubectl gpupool web as a process of this machine."""

import os
import subprocess
import time

from demo.show import kept
from demo.show.errors import DemoError
from tests.kit.paths import program

STARTS_WITHIN = 30  # seconds
PROGRAM = "kubectl-gpupool"
FILE = "web.pid"


def start(environment: dict[str, str]) -> str:
    """The address of the page."""
    folder = environment["GPUPOOL_CLUSTER_DIR"]
    out = os.path.join(folder, "log", "web")
    with open(out, "wb") as log:
        process = subprocess.Popen([program(PROGRAM), "web"], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                   start_new_session=True, cwd="/")
    kept.note(os.path.join(folder, FILE), process.pid)
    end = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < end and process.poll() is None:
        with open(out, encoding="utf-8") as log:
            for line in log:
                if line.startswith("http") and line.endswith("\n"):
                    return line.strip()
        time.sleep(0.05)
    with open(out, encoding="utf-8") as log:
        raise DemoError(f"the page did not start:\n{log.read()}")


def stop_kept(folder: str) -> None:
    kept.stop(os.path.join(folder, FILE), PROGRAM)
