# SPDX-License-Identifier: Apache-2.0
"""S4: other libraries that are loaded first, or that replace malloc, work as without the limiter."""

import glob
import unittest

from tests.limiter.container import Container, libraries, test_library, test_program
from tests.limiter.proxy.driver_case import replay
from tests.limiter.proxy.test_capture import CAUGHT, NUMBER

OTHER = test_library("libother-preload.so")
ENV = {"LD_LIBRARY_PATH": replay(555)}


class Neighbours(unittest.TestCase):
    def test_wrapper_before_us(self) -> None:
        """Its dlsym(RTLD_NEXT) finds ours, once."""
        output = Container(preload=[OTHER, *libraries()]).output(test_program("find-driver"), "default", env=ENV)
        self.assertEqual(output, f"libother-preload.so {NUMBER}\nother-preload 1 1\n")

    def test_wrapper_behind_us(self) -> None:
        """A program that asks for the driver's function gets ours; the wrapper's libc functions are used by us too."""
        output = Container(preload=[*libraries(), OTHER]).output(test_program("find-driver"), "dlopen", env=ENV)
        self.assertEqual(output, CAUGHT + "other-preload 0 1\n")

    def test_wrapper_in_the_environment(self) -> None:
        output = Container().output("/usr/bin/env", f"LD_PRELOAD={OTHER}", test_program("linked-driver"), env=ENV)
        self.assertEqual(output, f"libother-preload.so {NUMBER}\nother-preload 1 1\n")

    def test_jemalloc(self) -> None:
        found = glob.glob("/usr/lib/*/libjemalloc.so.2")
        self.assertEqual(len(found), 1, "libjemalloc2 is in deps/packages.txt")
        for preload in ([*found, *libraries()], [*libraries(), *found]):
            self.assertEqual(Container(preload=preload).output(test_program("find-driver"), "dlopen", env=ENV), CAUGHT)

    def test_address_sanitizer(self) -> None:
        output = Container().output(test_program("find-driver-asan-static"), "dlopen", env=ENV)
        self.assertEqual(output, CAUGHT)

    def test_address_sanitizer_as_a_library(self) -> None:
        """It wants to be the first library, whichever the other is; its own option says otherwise."""
        refused = Container().run(test_program("find-driver-asan-shared"), "dlopen", env=ENV)
        self.assertIn("does not come first", refused.stderr)
        output = Container().output(test_program("find-driver-asan-shared"), "dlopen",
                                    env={**ENV, "ASAN_OPTIONS": "verify_asan_link_order=0"})
        self.assertEqual(output, CAUGHT)


if __name__ == "__main__":
    unittest.main()
