# SPDX-License-Identifier: Apache-2.0
"""Where things are: the tree, what was built, and the programs that tests start."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CLUSTER = ROOT / "tests" / "cluster" / "cluster"
BUILD_IMAGE = ROOT / "tests" / "images" / "build"
CRDS = str(ROOT / "crds")
EXAMPLES = ROOT / "examples"
MANIFESTS = ROOT / "deploy" / "manifests"
LOGS = ROOT / "build" / "logs"


def cpp_header(name: str) -> Path:
    """A header of the programs or of their library, in whichever folder it is; there is one of that name."""
    (found,) = [path for top in ("lib", "operator", "device-plugin") for path in (ROOT / top).rglob(name)]
    return found


def build_folder() -> Path:
    """$BUILD_DIR, or build."""
    return Path(os.path.abspath(os.environ.get("BUILD_DIR") or ROOT / "build"))


def program(name: str) -> str:
    """The path of a built program, whether it exists or not."""
    return str(build_folder() / "bin" / name)


def operator_binary() -> str:
    return program("gpupool-operator")


def launcher_binary() -> str:
    return program("gpupool-launch")


def cli_binary() -> str:
    return program("kubectl-gpupool")


def cache_folder(name: str) -> Path:
    """A folder outside the tree that is kept between runs. It is made if it is not there."""
    base = os.environ.get("GPUPOOL_CACHE") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gpupool")
    folder = Path(base) / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kubectl_program() -> str:
    """$KUBECTL, or kubectl."""
    return os.environ.get("KUBECTL") or "kubectl"
