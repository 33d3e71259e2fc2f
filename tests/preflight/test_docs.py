# SPDX-License-Identifier: Apache-2.0
"""docs/onboarding.md and the program agree."""

import os
import re
import subprocess
import unittest

from tests.kit.paths import ROOT
from tests.preflight import build
from tests.preflight.machine import Machine

# Of kubectl, sysctl and the like in the examples.
OTHERS = {"--runtime", "--set-as-default"}


class DocsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build.require(build.PROGRAM, build.FAKE_NVML)
        with open(os.path.join(ROOT, "docs", "onboarding.md"), encoding="utf-8") as source:
            cls.text = source.read()
        with Machine() as machine:
            cls.names = list(machine.preflight("--json").checks())

    def test_every_check_has_its_line_in_the_table(self):
        table = re.findall(r"^\| `([a-z-]+)` \|", self.text, re.M)
        self.assertEqual(sorted(self.names), sorted(table))

    def test_example_shows_every_check_in_order(self):
        example = re.findall(r"^(?:ok|warn|FAIL) +([a-z-]+) ", self.text, re.M)
        self.assertEqual(self.names, example)

    def test_every_flag_is_told_and_no_other(self):
        shown = subprocess.run([build.PROGRAM, "--help"], check=True, capture_output=True, text=True).stdout
        flags = set(re.findall(r"(--[a-z-]+)", shown)) - {"--help", "--version"}
        told = set(re.findall(r"(--[a-z][a-z-]+)", self.text)) - OTHERS
        self.assertEqual(flags - {"--node-name"}, told - {"--node-name"})
        self.assertIn("NODE_NAME", self.text)

    def test_image_of_the_example_has_the_program(self):
        with open(os.path.join(ROOT, "deploy", "images", "images.py"), encoding="utf-8") as source:
            image = re.search(r"gpupool\.dev/([a-z-]+):VERSION", self.text).group(1)
            self.assertRegex(source.read(), rf'"{image}": \[[^\]]*"gpupool-preflight"')
        self.assertIn("command: [/gpupool-preflight,", self.text)
