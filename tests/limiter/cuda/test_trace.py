# SPDX-License-Identifier: Apache-2.0
"""M3 and M4: whatever is called, in whatever order, and whatever fails: what is charged is what the driver holds.

Environment: TRACE_STEPS (100,000) and TRACE_SEED (1).
"""

import os
import unittest

from tests.limiter.cuda.cuda_case import CudaCase

LIMIT = 900  # MiB

# Calls that must have gone well, failed, and, where they take memory, been refused, or the trace says nothing about them.
ALLOCATE = ("cuMemAlloc_v2", "cuMemAllocManaged", "cuMemAllocPitch_v2", "cuArrayCreate_v2", "cuArray3DCreate_v2",
            "cuMipmappedArrayCreate", "cuMemCreate", "cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuGraphLaunch",
            "cuGraphInstantiateWithFlags", "cuCtxCreate_v2")
OTHERS = ("cuMemFree_v2", "cuMemFreeAsync", "cuArrayDestroy", "cuMipmappedArrayDestroy", "cuMemRelease", "cuMemMap",
          "cuMemUnmap", "cuMemRetainAllocationHandle", "cuMemImportFromShareableHandle", "cuMemPoolCreate", "cuMemPoolDestroy",
          "cuMemPoolTrimTo", "cuMemPoolSetAttribute", "cuCtxSynchronize", "cuStreamSynchronize", "cuGraphUpload",
          "cuGraphExecDestroy", "cuDeviceGraphMemTrim", "cuCtxDestroy_v2", "cuDevicePrimaryCtxRetain", "cuCtxSetLimit")


class Trace(CudaCase):
    def trace(self, steps: str, **env: str) -> dict[str, int]:
        seed = os.environ.get("TRACE_SEED", "1")
        output = self.output_of(self.container(LIMIT, LIMIT), "memory-trace", seed, steps, str(LIMIT), **env)
        rows = (line.rsplit(" ", 1) for line in output.splitlines())
        return {name: int(count) for name, count in rows}

    def test_charges_are_what_the_driver_holds(self) -> None:
        counts = self.trace(os.environ.get("TRACE_STEPS", "100000"))
        print(f"{sum(counts.values())} calls, {sum(n for name, n in counts.items() if ' ' in name)} of them failed")
        for name in (*ALLOCATE, *OTHERS):
            self.assertGreater(counts.get(name, 0), 10, name)
            self.assertGreater(counts.get(f"{name} failed", 0), 0, name)
        for name in ALLOCATE:
            self.assertGreater(counts.get(f"{name} out-of-memory", 0), 0, name)

    def test_pools_that_grow_in_large_steps(self) -> None:
        """As drivers do, who tell nobody: what a pool took beyond the limit is given back."""
        counts = self.trace("20000", STANDIN_POOL_STEP_MIB="32")
        self.assertGreater(counts["cuMemAllocAsync out-of-memory"], 0)


if __name__ == "__main__":
    unittest.main()
