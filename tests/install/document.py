# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a document as they stand there."""

import os
import re
import subprocess
import tempfile
from typing import Any

from tests.deploy.chart import helm_path
from tests.install.site_under_test import Site
from tests.kit.paths import ROOT, cli_binary

# All that is changed in the commands: what a document names of a site, and what this cluster has in its place.
SUBSTITUTES = {
    "registry.example.com/gpupool": "gpupool.dev",  # the images are on the nodes
    "docker.io/library/busybox:1.36": "gpupool.dev/busybox:1",
    "gpu-1": "na", "gpu-2": "nb", "gpu-3": "nc", "gpu-4": "nd",
}


def blocks(path: str, heading: str) -> Any:
    """The sh blocks between this heading and the next of its level or above."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as source:
        text = source.read()
    level = len(heading) - len(heading.lstrip("#"))
    found = re.search(rf"^{re.escape(heading)}\n(.*?)(?=^#{{1,{level}}} |\Z)", text, re.M | re.S)
    if not found:
        raise AssertionError(f"{path} has no heading {heading!r}")
    return re.findall(r"^```sh\n(.*?)^```$", found.group(1), re.M | re.S)


def follow(site: Site, path: str, heading: str, only: str = "", **words: str) -> tuple[bool, Any]:
    """Runs them in the repository, with helm and kubectl for this cluster. words: what takes the place of what besides
    SUBSTITUTES, where a document has a word for a name that its reader knows. only: the blocks that contain this. What
    they print, and whether all succeeded."""
    commands = "".join(block for block in blocks(path, heading) if only in block)
    for word in words:
        if word not in commands:
            raise AssertionError(f"{path} {heading}: nothing says {word}")
    for old, new in {**SUBSTITUTES, **words}.items():
        commands = commands.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        values = os.path.join(folder, "values.yaml")
        with open(values, "w", encoding="utf-8") as out:
            out.write(site.values)
        _command(folder, "kubectl", f'exec {os.environ["KUBECTL"]} "$@"')
        _command(folder, "kubectl-gpupool", f'exec {cli_binary()} "$@"')
        # The images are others than a release's, and the driver is a fake.
        _command(folder, "helm", f'case $1 in install | upgrade) set -- "$@" --values {values} ;; esac\n'
                                 f'exec {helm_path()} "$@"')
        done = subprocess.run(["bash", "-euxo", "pipefail", "-c", commands], cwd=ROOT, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=600,
                              env={**os.environ, "KUBECONFIG": site.cluster.kubeconfig,
                                   "PATH": folder + ":" + os.environ["PATH"]})
    return done.returncode == 0 and bool(commands), done.stdout


def _command(folder: str, name: str, text: str) -> None:
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)
