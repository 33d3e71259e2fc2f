# SPDX-License-Identifier: Apache-2.0
"""Where the build has put what is tested."""

import os

from tests.kit.paths import build_folder, program

BUILD = build_folder()
PROGRAM = program("gpupool-preflight")
FAKE_NVML = os.path.join(BUILD, "lib", "libnvidia-ml.so.1")
MISMATCHED_NVML = os.path.join(BUILD, "lib", "mismatched-nvml", "libnvidia-ml.so.1")


def require(*paths):
    for path in paths:
        if not os.path.exists(path):
            raise RuntimeError(f"{path} is missing: build it first, or set BUILD_DIR")
