"""Where the build has put what is tested."""

import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD_DIR") or os.path.join(ROOT, "build")
PROGRAM = os.path.join(BUILD, "bin", "gpupool-preflight")
FAKE_NVML = os.path.join(BUILD, "lib", "libnvidia-ml.so.1")
MISMATCHED_NVML = os.path.join(BUILD, "lib", "mismatched-nvml", "libnvidia-ml.so.1")


def require(*paths):
    for path in paths:
        if not os.path.exists(path):
            raise RuntimeError(f"{path} is missing: build it first, or set BUILD_DIR")
