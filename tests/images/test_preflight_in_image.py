# SPDX-License-Identifier: Apache-2.0
"""gpupool-preflight in the device plugin's image says of a mounted machine what it says on the machine itself."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from deploy.images import images
from tests.preflight import build
from tests.preflight.machine import Machine

# As a container runtime does.
CONTAIN = 'mount --bind "$1" "$2/host" && mount --bind /proc "$2/proc" && shift && exec chroot "$@"'


class PreflightTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        build.require(build.PROGRAM, build.FAKE_NVML)
        self.image = tempfile.mkdtemp(prefix="gpupool-images-")
        self.addCleanup(shutil.rmtree, self.image)
        images.Image("device-plugin", "test").unpack(self.image)
        for folder in ("host", "proc"):
            os.mkdir(os.path.join(self.image, folder))

    def judge(self, command, root):
        environment = {"PATH": os.environ["PATH"], "GPUPOOL_FAKE_NVML": os.path.join(root, "nvml.json")}
        done = subprocess.run([*command, "--root", root, "--json"], env=environment, capture_output=True, text=True,
                              check=False)
        self.assertTrue(done.stdout, done.stderr)
        return json.loads(done.stdout)

    def test_same_answers(self):
        with Machine() as machine:
            library = machine.path("usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1")
            os.makedirs(os.path.dirname(library))
            shutil.copyfile(build.FAKE_NVML, library)
            machine.write("proc/sys/net/ipv4/ip_forward", "0\n")  # something to complain about
            inside = self.judge(["unshare", "--mount", "sh", "-c", CONTAIN, "sh", machine.root, self.image,
                                 "/gpupool-preflight"], "/host")
            outside = self.judge([build.PROGRAM], machine.root)
        self.assertEqual(outside, inside)
        checks = {check["name"]: check for check in inside["checks"]}
        self.assertIn("2 GPUs", checks["driver"]["found"])
        self.assertEqual("fail", checks["kernel"]["verdict"])
