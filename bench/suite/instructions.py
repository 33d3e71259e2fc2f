# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions of the operator's most frequent work with callgrind. The counts are the same in every run.

Which memcpy the C library takes depends on the processor, and is 0.02 % of them."""

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Iterable

from bench.suite.programs import binary
from bench.suite.results import Results

LIMIT = 300  # seconds


def _counts(dump: str) -> tuple[str, float] | None:
    """What was counted, and how often it was done, in one of callgrind's files."""
    found = re.search(r"^desc: Trigger: Client Request: (.+) / (\d+)$", dump, re.M)
    totals = re.search(r"^totals: (\d+)$", dump, re.M)
    return (found[1], int(totals[1]) / int(found[2])) if found and totals else None


def measure(results: Results, programs: Iterable[list]) -> None:
    """Of programs that count (bench/support/instructions.h), each a list with its arguments."""
    for program, *arguments in programs:
        with tempfile.TemporaryDirectory(prefix="gpupool-callgrind-") as folder:
            command = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/out",
                       binary(program), *map(str, arguments), "--smoke"]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr[-2000:]}")
            for path in sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:])):
                counted = _counts(path.read_text(encoding="utf-8"))
                if counted:
                    results.add("instructions", *counted, "instructions")
