"""What the numbers were measured on."""

import os
import platform
import subprocess


def _field(path, name):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith(name):
                return line.split(":", 1)[1].strip()
    return ""


def _first_line(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except OSError:
        return ""
    return (done.stdout or done.stderr).partition("\n")[0]


def describe(root):
    """Load and commit too: they tell how far to trust it."""
    return {
        "cpu": _field("/proc/cpuinfo", "model name"), "cores": os.cpu_count(),
        "memory": _field("/proc/meminfo", "MemTotal"), "kernel": platform.release(),
        "compiler": _first_line("g++", "--version"), "etcd": _first_line("etcd", "--version"),
        "commit": _first_line("git", "-C", str(root), "describe", "--always", "--dirty"),
        "load": [round(load, 1) for load in os.getloadavg()],
    }
