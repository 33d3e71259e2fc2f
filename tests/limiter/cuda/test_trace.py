# SPDX-License-Identifier: Apache-2.0
"""M3 and M4: whatever is called, in whatever order, and whatever fails: what is charged is what the driver holds.

Environment: TRACE_STEPS (60,000; `make soak` has a million) and TRACE_SEED (1).
"""

import collections
import os
import unittest

from tests.limiter.cuda.cuda_case import DRIVER, WITH_NVML, CudaCase

LIMIT = 700  # MiB
STEPS = int(os.environ.get("TRACE_STEPS", "60000"))
SEED = int(os.environ.get("TRACE_SEED", "1"))
MOST = 100_000  # steps of one process; more are several, each with its own seed
FEW = 10_000  # from so many steps on each name is met as often as is asked for below

# Calls that must have gone well, failed, and, where they take memory, been refused, or the trace says nothing about them.
ALLOCATE = ("cuMemAlloc", "cuMemAlloc_v2", "cuMemAllocManaged", "cuMemAllocPitch", "cuMemAllocPitch_v2", "cuArrayCreate",
            "cuArrayCreate_v2", "cuArray3DCreate", "cuArray3DCreate_v2", "cuMipmappedArrayCreate", "cuMemCreate",
            "cuMemAllocAsync", "cuMemAllocAsync_ptsz", "cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz",
            "cuGraphUpload", "cuGraphUpload_ptsz", "cuGraphLaunch", "cuGraphLaunch_ptsz", "cuCtxCreate_v2", "cuGreenCtxCreate")
OTHERS = ("cuMemFree", "cuMemFree_v2", "cuMemFreeAsync", "cuMemFreeAsync_ptsz", "cuArrayDestroy", "cuMipmappedArrayDestroy",
          "cuMemRelease", "cuMemMap", "cuMemUnmap", "cuMemMapArrayAsync", "cuMemMapArrayAsync_ptsz",
          "cuMemRetainAllocationHandle", "cuMemImportFromShareableHandle", "cuMemPoolCreate", "cuMemPoolDestroy",
          "cuMemPoolTrimTo", "cuMemPoolSetAttribute", "cuMemGetDefaultMemPool", "cuMemGetMemPool", "cuCtxSynchronize",
          "cuCtxSynchronize_v2", "cuStreamSynchronize", "cuStreamSynchronize_ptsz", "cuEventSynchronize",
          "cuGraphInstantiate_v2", "cuGraphInstantiateWithFlags", "cuGraphInstantiateWithParams",
          "cuGraphInstantiateWithParams_ptsz", "cuGraphExecUpdate_v2", "cuGraphExecDestroy", "cuDeviceGraphMemTrim",
          "cuCtxDestroy_v2", "cuGreenCtxDestroy", "cuDevicePrimaryCtxRetain", "cuCtxSetLimit", "cuIpcOpenMemHandle_v2",
          "cuIpcCloseMemHandle", "cuMemAllocHost_v2")
CODE = ("cuModuleLoadData", "cuModuleLoadFatBinary")


class Trace(CudaCase):
    def trace(self, steps: int, *arguments: str, **env: str) -> dict[str, int]:
        counts: collections.Counter[str] = collections.Counter()
        for first in range(0, steps, MOST):
            output = self.output_of(self.container(LIMIT, LIMIT), "memory-trace", str(SEED + first // MOST),
                                    str(min(steps - first, MOST)), str(LIMIT), *arguments, **env)
            for line in output.splitlines():
                name, count = line.rsplit(" ", 1)
                counts[name] += int(count)
        return counts

    def all_met(self, counts: dict[str, int], *names: str) -> None:
        failed = sum(count for name, count in counts.items() if name.endswith(" failed"))
        refused = sum(count for name, count in counts.items() if name.endswith(" refused"))
        print(f"{sum(counts.values())} calls, {failed} of them failed, {refused} refused")
        for name in names:
            self.assertGreater(counts.get(name, 0), 10, name)
            self.assertGreater(counts.get(f"{name} failed", 0), 0, name)

    def test_charges_are_what_the_driver_holds(self) -> None:
        counts = self.trace(STEPS)
        if STEPS >= FEW:
            self.all_met(counts, *ALLOCATE, *OTHERS)
            for name in ALLOCATE:
                self.assertGreater(counts.get(f"{name} refused", 0), 0, name)

    def test_measured_by_nvml(self) -> None:
        """Contexts and code are what NVML says less everything else."""
        counts = self.trace(STEPS // 3, "measured", LD_LIBRARY_PATH=WITH_NVML)
        if STEPS // 3 >= FEW:
            self.all_met(counts, *CODE)

    def test_pools_that_grow_in_small_steps(self) -> None:
        """The others' pools grow by 32 MiB, which nobody tells: what they took beyond the limit is given back."""
        self.machine(poolGrowthMiB=2)
        counts = self.trace(STEPS // 3)
        if STEPS // 3 >= FEW:
            self.all_met(counts, "cuMemAllocAsync", "cuMemAllocFromPoolAsync")


class Threads(CudaCase):
    def test_threads(self) -> None:
        """Eight threads: also who gets another's pointer or handle is charged once."""
        rounds = min(max(STEPS // 200, 10), 2000)
        for libraries in (DRIVER, WITH_NVML):
            output = self.output_of(self.container(400, 400), "memory-threads", str(SEED), str(rounds), LD_LIBRARY_PATH=libraries)
            self.assertEqual(output, f"{rounds} rounds\n")


if __name__ == "__main__":
    unittest.main()
