# SPDX-License-Identifier: Apache-2.0
"""An image of our programs: the binaries, the shared libraries that they need and these libraries' licenses."""

import os
import re
import subprocess
from typing import Any

from deploy.images.archive import Layer

USER = 65532  # by convention of images without a distribution


def libraries(binary: str) -> Any:
    """{path in the image: path here}, the dynamic loader included."""
    shown = subprocess.run(["ldd", binary], check=False, capture_output=True, text=True)
    if "not a dynamic executable" in shown.stdout + shown.stderr:
        return {}
    if shown.returncode != 0 or "not found" in shown.stdout:
        raise RuntimeError(f"{binary} needs libraries that are not installed:\n{shown.stdout}{shown.stderr}")
    return {path.lstrip("/"): path for path in re.findall(r"(/\S+) \(0x", shown.stdout)}


def stripped(binary: str, folder: str, mode: int = 0o755) -> Any:
    """A copy without symbols, which are most of a static program."""
    out = os.path.join(folder, os.path.basename(binary))
    subprocess.run(["strip", "-o", out, binary], check=True)
    os.chmod(out, mode)
    return out


def _add_licenses(layer: Layer, packages: list[str]) -> None:
    first = {}  # text -> package; those of one source have the same
    for package in packages:
        terms = f"usr/share/doc/{package}/copyright"
        with open("/" + terms, "rb") as source:
            text = source.read()
        if text in first:
            layer.add_link(terms, f"../{first[text]}/copyright")
        else:
            first[text] = package
            layer.add_bytes(terms, text)


def program_image(binaries: list[str], shared: dict[str, str], packages: list[str],
                  labels: dict[str, str]) -> tuple[Any, dict[str, Any]]:
    """The first of the binaries is what the image runs. shared: {path in the image: path here} of libraries
    and other files.
    packages: the Debian packages whose licenses belong to it."""
    layer = Layer()
    for binary in binaries:
        layer.add_file(os.path.basename(binary), binary, 0o755)
    for inside, path in shared.items():
        layer.add_file(inside, path)
    _add_licenses(layer, packages)
    layer.add_bytes("etc/passwd", f"nonroot:x:{USER}:{USER}::/:/sbin/nologin\n".encode())
    layer.add_bytes("etc/group", f"nonroot:x:{USER}:\n".encode())
    return layer, {"Entrypoint": ["/" + os.path.basename(binaries[0])], "User": f"{USER}:{USER}", "WorkingDir": "/",
                   "Labels": labels}
