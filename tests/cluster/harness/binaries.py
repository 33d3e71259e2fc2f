# SPDX-License-Identifier: Apache-2.0
"""Where the programs of Kubernetes come from."""

import os
import re
import shutil
import subprocess
from typing import Any

from tests.cluster.harness.errors import ClusterError
from tests.kit.paths import ROOT

SCRIPT = str(ROOT / "tests" / "cluster" / "build-kubernetes")


class Binaries:
    """Paths by program name: KUBEBUILDER_ASSETS, then PATH; without the variable the cache, built on first use."""

    def __init__(self, names: list[str]) -> None:
        folder = os.environ.get("KUBEBUILDER_ASSETS")
        if folder and not os.path.isdir(folder):
            raise ClusterError(f"KUBEBUILDER_ASSETS={folder} is not a folder")
        if not folder:
            done = subprocess.run([SCRIPT], stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode != 0:
                raise ClusterError(f"{SCRIPT} failed")
            folder = done.stdout.strip()
        self.folder = folder
        self.paths = {name: self._find(folder, name) for name in names}

    @staticmethod
    def _find(folder: str, name: str) -> Any:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK):
            return os.path.abspath(path)
        found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin:/usr/local/bin")
        if found is None:
            raise ClusterError(f"{name} is neither in {folder} nor on PATH")
        return found


def minor_version(program: str) -> int:
    text = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"v1\.(\d+)", text)
    if not found:
        raise ClusterError(f"{program} --version says {text.strip()!r}")
    return int(found.group(1))
