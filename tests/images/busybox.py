# SPDX-License-Identifier: Apache-2.0
"""The two images made of Debian's static busybox: the sandbox of every pod, and a shell for tests."""

import subprocess

from deploy.images.archive import Layer

BUSYBOX = "/bin/busybox"


def add_shell(layer):
    """Adds busybox with a link for each of its commands."""
    layer.add_file("bin/busybox", BUSYBOX)
    for applet in subprocess.run([BUSYBOX, "--list"], check=True, capture_output=True, text=True).stdout.split():
        if applet != "busybox":
            layer.add_link("bin/" + applet, "/bin/busybox")


def add_base_files(layer):
    layer.add_bytes("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n")
    layer.add_bytes("etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    layer.add_directory("root", 0o700)
    layer.add_directory("tmp", 0o1777)


def busybox_image():
    layer = Layer()
    add_shell(layer)
    add_base_files(layer)
    return layer, {"Env": ["PATH=/bin"], "Cmd": ["/bin/sh"]}


def pause_image():
    # Process 1 of a pod with a shared process namespace inherits orphans: ignoring SIGCHLD makes the kernel reap them.
    layer = Layer()
    layer.add_file("bin/busybox", BUSYBOX)
    layer.add_link("bin/sh", "/bin/busybox")
    layer.add_link("bin/sleep", "/bin/busybox")
    return layer, {"Env": ["PATH=/bin"], "Entrypoint": ["/bin/sh", "-c", "trap '' CHLD; exec sleep 2147483647"]}
