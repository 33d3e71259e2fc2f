# SPDX-License-Identifier: Apache-2.0
"""What tests of the proxy share: the stand-ins for drivers, and what the proxy exports and wraps."""

import subprocess
from pathlib import Path

from tests.kit.paths import ROOT
from tests.limiter.container import libraries, test_library

PROXY = ROOT / "limiter" / "proxy"
CUDA_NAMES = PROXY / "names" / "cuda.txt"
NVML_NAMES = PROXY / "names" / "nvml.txt"
CUDA, ALIAS, NVML = libraries()
REPLAYED = "libcuda.so.1"  # the file name of a stand-in
NO_FUNCTION, NO_DEVICE = 500, 100
FIRST_NUMBER = 1000  # of the results of a stand-in's functions; see generate_replay


def read_list(path: Path) -> list[str]:
    lines = (line.split("#")[0].strip() for line in path.read_text(encoding="utf-8").splitlines())
    return sorted(line for line in lines if line)


def wrapped() -> set[str]:
    """Functions that the limiter defines itself."""
    whole = (ROOT / "limiter" / "cuda" / "CMakeLists.txt").exists()
    return set(read_list(PROXY / ("wrapped.txt" if whole else "wrapped_alone.txt")))


def replay(driver: int) -> str:
    """The folder of the stand-in for a driver."""
    return test_library(f"cuda-{driver}")


def symbols(path: str, *options: str) -> list[list[str]]:
    """The columns of readelf's dynamic symbols."""
    output = subprocess.run(["/usr/bin/readelf", "-W", "--dyn-syms", *options, path], capture_output=True, text=True,
                            check=True).stdout
    return [line.split() for line in output.splitlines() if line.strip()[:1].isdigit()]


def exported(path: str) -> dict[str, str]:
    """{name: type} of what a library exports."""
    return {columns[7].split("@")[0]: columns[3] for columns in symbols(path)
            if len(columns) > 7 and columns[6] != "UND" and columns[4] != "LOCAL"}


def needed(path: str) -> list[str]:
    output = subprocess.run(["/usr/bin/readelf", "-W", "-d", path], capture_output=True, text=True, check=True).stdout
    return [line.split("[")[1].rstrip("]") for line in output.splitlines() if "(NEEDED)" in line]
