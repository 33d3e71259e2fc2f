# SPDX-License-Identifier: Apache-2.0
"""A training image out of the Debian packages of this machine: Python, numpy and PyTorch with the libraries they load."""

import glob
import os
import re
import subprocess

from deploy.images.archive import Layer
from tests.images.busybox import add_base_files, add_shell

PACKAGES = ["python3.11-minimal", "libpython3.11-stdlib", "python3-torch", "libtorch1.13", "python3-numpy",
            "python3-typing-extensions", "libc6", "libopenblas0-pthread", "busybox-static"]
MODULES = "/usr/lib/python3/dist-packages"
STDLIB = "/usr/lib/python3.11"
LIBRARIES = "usr/lib/x86_64-linux-gnu"


def version():
    """Names the versions that the image is made of: the key under which it is cached."""
    query = subprocess.run(["dpkg-query", "-W", "-f=${Package}=${Version}\n", *PACKAGES],
                           capture_output=True, text=True, check=False)
    return query.stdout


def _libraries(paths):
    """What the dynamic linker would load for these files: {name: path}."""
    found = {}
    listing = subprocess.run(["ldd", *paths], capture_output=True, text=True, check=False).stdout
    for name, path in re.findall(r"^\s+(\S+) => (/\S+) \(", listing, re.MULTILINE):
        found[name] = path
    return found


def pytorch_image():
    if not os.path.isdir(MODULES + "/torch"):
        raise FileNotFoundError("python3-torch is not installed: run `make deps`")
    layer = Layer()
    add_shell(layer)
    add_base_files(layer)
    skipped = {"__pycache__", "test", "idlelib", "lib2to3", "config-3.11-x86_64-linux-gnu", "dist-packages"}
    layer.add_file("usr/bin/python3.11", "/usr/bin/python3.11")
    for link in ("python3", "python"):
        layer.add_link("usr/bin/" + link, "python3.11")
    layer.add_tree(STDLIB[1:], STDLIB, lambda name: name in skipped)
    for module in ("torch", "numpy"):
        layer.add_tree(f"{MODULES[1:]}/{module}", f"{MODULES}/{module}", lambda name: name in {"__pycache__", "bin"})
    shm_manager = MODULES + "/torch/bin/torch_shm_manager"  # looked for at import; the rest of bin/ are tests
    layer.add_file(shm_manager[1:], shm_manager)
    layer.add_file(f"{MODULES[1:]}/typing_extensions.py", f"{MODULES}/typing_extensions.py")

    roots = ["/usr/bin/python3.11", shm_manager]
    for folder in (STDLIB + "/lib-dynload", MODULES + "/torch", MODULES + "/numpy"):
        roots += glob.glob(folder + "/**/*.so*", recursive=True)
    for name, path in sorted(_libraries(roots).items()):
        layer.add_file(f"{LIBRARIES}/{name}", path)
    # The search path without ld.so.cache: /lib and /usr/lib with the multiarch folder.
    layer.add_link("lib", "usr/lib")
    layer.add_link("lib64", "usr/lib")
    layer.add_file("usr/lib/ld-linux-x86-64.so.2", "/lib64/ld-linux-x86-64.so.2")
    layer.add_bytes("etc/nsswitch.conf", b"hosts: files dns\n")
    return layer, {"Env": ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"], "Cmd": ["python3"]}
