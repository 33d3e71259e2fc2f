# SPDX-License-Identifier: Apache-2.0
"""Describes the machine on which the benchmarks run."""

import os
import platform
import subprocess
from typing import Any
from pathlib import Path


def _field(path: str, name: str) -> str:
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(name):
                return line.split(":", 1)[1].strip()
    return ""


def _first_line(*command: str) -> Any:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return ""
    return (done.stdout or done.stderr).partition("\n")[0]


def describe(root: Path) -> dict[str, Any]:
    """Load and commit too: they tell how far to trust it."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
        "memory": _field("/proc/meminfo", "MemTotal"), "kernel": platform.release(),
        "compiler": _first_line("g++", "--version"), "etcd": _first_line("etcd", "--version"),
        "commit": _first_line("git", "-C", str(root), "describe", "--always", "--dirty"),
        "load": [round(load, 1) for load in os.getloadavg()],
    }
