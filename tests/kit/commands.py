# SPDX-License-Identifier: Apache-2.0
"""Runs programs whose output a check looks at."""

import subprocess
from typing import Any


def run(*command: Any, stdin: str | None = None, timeout: float = 120) -> tuple[int, str]:
    """(exit code, output of both streams)."""
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=timeout, check=False)
    return done.returncode, done.stdout


def output_of(*command: Any) -> str:
    """What a program prints that must succeed, without white space at the ends. Its complaints go to the terminal."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
