# SPDX-License-Identifier: Apache-2.0
"""The device plugin's image with the mounts and rights that the chart gives it: who can write the limiter on the node."""

import os
import shutil
import subprocess
import tempfile
import unittest
from typing import Any

from tests.deploy.chart import template
from tests.images.busybox import BUSYBOX
from tests.kit.paths import ROOT

ENFORCING = ["--set", "devicePlugin.enforcement.enabled=true,devicePlugin.config.enforce=library"]
LIBRARIES = ["libgpupool-vgpu-alias.so", "libgpupool-vgpu-nvml.so", "libgpupool-vgpu.so"]
# A container runtime starts it without any capability; chroot needs this one.
AS_CONTAINER = ["/usr/bin/setpriv", "--bounding-set=-all,+sys_chroot", "--inh-caps=-all", "--no-new-privs", "/usr/sbin/chroot"]


class LimiterInImageTest(unittest.TestCase):
    folder: str
    pod: Any

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.mkdtemp(prefix="gpupool-images-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        subprocess.run([ROOT / "deploy" / "images" / "build", "--unpack", cls.folder, "device-plugin"], check=True,
                       stdout=subprocess.DEVNULL)
        cls.pod = next(item["spec"]["template"]["spec"] for item in template(*ENFORCING) if item["kind"] == "DaemonSet")

    def setUp(self) -> None:
        self.node = tempfile.mkdtemp(prefix="gpupool-node-")
        self.addCleanup(shutil.rmtree, self.node)
        (self.init,), (self.plugin,) = self.pod["initContainers"], self.pod["containers"]
        for container in (self.init, self.plugin):
            rights = container["securityContext"]
            self.assertEqual((0, {"drop": ["ALL"]}, False, True), (
                rights["runAsUser"], rights["capabilities"], rights["allowPrivilegeEscalation"], rights["readOnlyRootFilesystem"]))

    def run_in(self, container: Any, *command: str) -> subprocess.CompletedProcess[str]:
        """With the container's mounts of folders of the node, in a namespace of their own."""
        paths = {volume["name"]: volume["hostPath"]["path"] for volume in self.pod["volumes"] if "hostPath" in volume}
        lines = ["set -e", f'mount --bind "{self.folder}/device-plugin" /mnt']
        for mount in container["volumeMounts"]:
            if mount["name"] in paths:
                source, target = self.node + paths[mount["name"]], self.folder + "/device-plugin" + mount["mountPath"]
                os.makedirs(source, mode=0o755, exist_ok=True)
                os.makedirs(target, exist_ok=True)
                lines.append(f'mount --bind "{source}" "/mnt{mount["mountPath"]}"')
                if mount.get("readOnly"):
                    lines.append(f'mount -o remount,bind,ro "/mnt{mount["mountPath"]}"')
        if BUSYBOX in command:
            open(f"{self.folder}/device-plugin/busybox", "wb").close()
            lines.append(f"mount --bind {BUSYBOX} /mnt/busybox")
            command = tuple("/busybox" if word == BUSYBOX else word for word in command)
        lines += ["mount -o remount,bind,ro /mnt", 'exec "$@"']
        return subprocess.run(["/usr/bin/unshare", "-m", "/bin/sh", "-c", "\n".join(lines), "sh", *AS_CONTAINER, "/mnt", *command],
                              capture_output=True, text=True, check=False, cwd="/", timeout=60)

    def installed(self) -> dict[str, bytes]:
        found = {}
        for folder, _, names in os.walk(self.node + "/var/lib/gpupool-limiter"):
            for name in names:
                with open(os.path.join(folder, name), "rb") as source:
                    found[os.path.relpath(os.path.join(folder, name), self.node)] = source.read()
        return found

    def install(self) -> str:
        """Returns the folder of the libraries, on the node."""
        done = self.run_in(self.init, "/gpupool-device-plugin", *self.init["args"])
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        return self.node + done.stdout.strip()

    def test_the_init_container_installs_it(self) -> None:
        folder = self.install()
        self.assertEqual(["ld.so.preload", *LIBRARIES], sorted(os.listdir(folder)))
        for name in os.listdir(folder):
            found = os.stat(os.path.join(folder, name))
            self.assertEqual((0o100444, 0, 0), (found.st_mode, found.st_uid, found.st_gid), name)
        with open(os.path.join(folder, "ld.so.preload"), encoding="utf-8") as source:
            self.assertEqual({"/usr/local/lib/gpupool/" + name for name in LIBRARIES}, set(source.read().split()))

    def test_the_plugin_can_write_nothing_of_it(self) -> None:
        folder = self.install().removeprefix(self.node)
        before = self.installed()
        attempts = {
            "install another": ["/gpupool-device-plugin", "--install-limiter=/usr/lib/gpupool-vgpu", f"--limiter-directory={folder}"],
            "overwrite a library": [BUSYBOX, "sh", "-c", f"echo x > {folder}/libgpupool-vgpu.so"],
            "overwrite the preload file": [BUSYBOX, "sh", "-c", f"echo x > {folder}/ld.so.preload"],
            "remove a library": [BUSYBOX, "rm", "-f", f"{folder}/libgpupool-vgpu.so"],
            "give rights": [BUSYBOX, "chmod", "777", folder],
            "rename": [BUSYBOX, "mv", f"{folder}/libgpupool-vgpu.so", f"{folder}/other"],
            "add a file": [BUSYBOX, "touch", "/var/lib/gpupool-limiter/new"],
            "mount it anew": [BUSYBOX, "mount", "-o", "remount,bind,rw", "none", "/var/lib/gpupool-limiter"],
        }
        for what, command in attempts.items():
            with self.subTest(what):
                done = self.run_in(self.plugin, *command)
                self.assertNotEqual(0, done.returncode, done.stdout)
                self.assertRegex(done.stderr, "Read-only file system|not permitted|Permission denied|permission denied")
                self.assertEqual(before, self.installed())

    def test_the_plugin_can_read_it_and_write_its_own(self) -> None:
        """Otherwise the test above would prove nothing."""
        folder = self.install().removeprefix(self.node)
        done = self.run_in(self.plugin, BUSYBOX, "sh", "-c", f"/busybox cat {folder}/ld.so.preload && echo x > /var/lib/gpupool/x "
                           "&& echo x > /run/gpupool/regions/x")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn("libgpupool-vgpu.so", done.stdout)
        done = self.run_in(self.init, BUSYBOX, "touch", f"{folder}/new")
        self.assertEqual(0, done.returncode, done.stderr)
