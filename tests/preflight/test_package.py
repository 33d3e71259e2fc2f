# SPDX-License-Identifier: Apache-2.0
"""The Debian package of gpupool-preflight."""

import glob
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest

from tests.preflight import build

EPOCH = "1700000000"


def pack(folder):
    """Path of the package, made in `folder` from what was built."""
    subprocess.run(["cpack", "-G", "DEB", "-D", "CPACK_COMPONENTS_ALL=preflight", "-B", folder, "--config", os.path.join(build.BUILD, "CPackConfig.cmake")], check=True,
                   stdout=subprocess.DEVNULL, env={**os.environ, "SOURCE_DATE_EPOCH": EPOCH}, cwd=folder)
    found = glob.glob(os.path.join(folder, "*.deb"))
    if len(found) != 1:
        raise AssertionError(f"one package expected: {found}")
    return found[0]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build.require(build.PROGRAM, os.path.join(build.BUILD, "CPackConfig.cmake"))
        cls.folder = tempfile.mkdtemp(prefix="gpupool-package-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.packages = []
        for name in ("a", "b"):
            os.mkdir(os.path.join(cls.folder, name))
            cls.packages.append(pack(os.path.join(cls.folder, name)))

    def test_same_bytes_each_time(self):
        first, second = (open(path, "rb").read() for path in self.packages)
        self.assertEqual(hashlib.sha256(first).hexdigest(), hashlib.sha256(second).hexdigest())

    def test_fields(self):
        field = lambda name: output("dpkg-deb", "-f", self.packages[0], name).strip()  # noqa: E731
        self.assertEqual("gpupool-preflight", field("Package"))
        version = output(build.PROGRAM, "--version").split()[1]
        self.assertEqual(version, field("Version"))
        self.assertEqual(output("dpkg", "--print-architecture").strip(), field("Architecture"))
        self.assertRegex(field("Maintainer"), r"^[\w ]+ <\S+@\S+>$")
        self.assertEqual("admin", field("Section"))
        self.assertTrue(os.path.basename(self.packages[0]).startswith(f"gpupool-preflight_{version}_"))
        for library in ("libc6", "libcurl4", "libstdc++6", "libyaml-cpp0.7"):
            self.assertRegex(field("Depends"), r"(^|, )" + re.escape(library) + r"( \(|,|$)")
        description = field("Description").splitlines()
        self.assertEqual("Tells whether a machine can serve in a GPU pool", description[0])
        self.assertTrue(all(line.startswith(" ") and not line.startswith("  ") for line in description[1:]), description)

    def test_contents(self):
        files = [line.split(maxsplit=5) for line in output("dpkg-deb", "-c", self.packages[0]).splitlines()]
        self.assertEqual({"./usr/", "./usr/bin/", "./usr/bin/gpupool-preflight"}, {file[5] for file in files})
        self.assertEqual({"root/root"}, {file[1] for file in files})
        self.assertEqual({"drwxr-xr-x", "-rwxr-xr-x"}, {file[0] for file in files})
        control = output("dpkg-deb", "-I", self.packages[0])
        self.assertNotIn("postinst", control)

    def test_program_runs_from_it(self):
        folder = os.path.join(self.folder, "unpacked")
        subprocess.run(["dpkg-deb", "-x", self.packages[0], folder], check=True)
        program = os.path.join(folder, "usr/bin/gpupool-preflight")
        self.assertEqual(output(build.PROGRAM, "--version"), output(program, "--version"))
        self.assertNotIn(".symtab", output("readelf", "-SW", program))


if __name__ == "__main__":
    unittest.main()
