# SPDX-License-Identifier: Apache-2.0
"""Pools, graphs, streams and names of the fake driver."""

import struct

from tests.limiter.fake_cuda.driver_case import (CONTEXT, DriverCase, INVALID_HANDLE, INVALID_VALUE, MEMORY, MIB, NOT_FOUND,
                                                 NOT_SUPPORTED, OUT_OF_MEMORY)

THRESHOLD, RESERVED, USED = 4, 5, 7  # CU_MEMPOOL_ATTR_*
CHUNK = 32 * MIB
UNTOUCHED = int.from_bytes(b"\xee" * 8, "little")


class Pools(DriverCase):
    def test_growth_and_trim(self) -> None:
        client = self.client().start()
        pool = client.good("cuDeviceGetDefaultMemPool", {"out": 8}, 0)
        pointer = client.good("cuMemAllocAsync", {"out": 8}, 1000, 0)
        self.assertEqual(client.good("cuMemPoolGetAttribute", pool, RESERVED, {"out": 8}), CHUNK)
        self.assertEqual(client.good("cuMemPoolGetAttribute", pool, USED, {"out": 8}), 1024)
        self.assertEqual(self.used(), CONTEXT + CHUNK)
        client.good("cuMemFreeAsync", pointer, 0)
        self.assertEqual(client.call("cuMemFreeAsync", pointer, 0)[0], INVALID_VALUE)
        self.assertEqual(self.used(), CONTEXT + CHUNK)  # until a synchronisation
        client.good("cuStreamSynchronize", 0)
        self.assertEqual(self.used(), CONTEXT)

    def test_threshold(self) -> None:
        client = self.client().start()
        pool = client.good("cuDeviceGetDefaultMemPool", {"out": 8}, 0)
        client.good("cuMemPoolSetAttribute", pool, THRESHOLD, {"bytes": (CHUNK).to_bytes(8, "little").hex()})
        client.good("cuMemFree_v2", client.good("cuMemAllocAsync", {"out": 8}, 100 * MIB, 0))
        client.good("cuMemFreeAsync", client.good("cuMemAllocAsync", {"out": 8}, 1, 0), 0)
        client.good("cuCtxSynchronize")
        self.assertEqual(self.used(), CONTEXT + 100 * MIB)  # one piece, and less would be below the threshold
        client.good("cuMemPoolTrimTo", pool, 0)
        self.assertEqual(self.used(), CONTEXT)

    def test_full(self) -> None:
        """A pool that cannot grow by a whole step takes what it needs, and no more than there is."""
        client = self.client().start()
        client.allocate(MEMORY - CONTEXT - 4 * MIB)
        client.good("cuMemAllocAsync", {"out": 8}, 4 * MIB, 0)
        self.assertEqual(self.used(), MEMORY)
        self.assertEqual(client.call("cuMemAllocAsync", {"out": 8}, 1, 0)[0], OUT_OF_MEMORY)


class Graphs(DriverCase):
    def test_memory(self) -> None:
        """Nothing is taken before the launch, and it stays until it is trimmed."""
        client = self.client().start()
        stream = client.good("cuStreamCreate", {"out": 8}, 0)
        client.good("cuStreamBeginCapture_v2", stream, 0)
        pointer = client.good("cuMemAllocAsync", {"out": 8}, 10 * MIB, stream)
        client.good("cuMemFreeAsync", pointer, stream)
        graph = client.good("cuStreamEndCapture", stream, {"out": 8})
        execution = client.good("cuGraphInstantiateWithFlags", {"out": 8}, graph, 0)
        self.assertEqual(self.used(), CONTEXT)
        for _ in range(2):
            client.good("cuGraphLaunch", execution, stream)
            self.assertEqual(self.used(), CONTEXT + 10 * MIB)
        client.good("cuDeviceGraphMemTrim", 0)
        self.assertEqual(self.used(), CONTEXT)

    def test_memory_that_stays(self) -> None:
        client = self.client().start()
        client.good("cuStreamBeginCapture_v2", client.good("cuStreamCreate", {"out": 8}, 0), 0)
        stream = client.good("cuStreamCreate", {"out": 8}, 0)
        client.good("cuStreamBeginCapture_v2", stream, 0)
        pointer = client.good("cuMemAllocAsync", {"out": 8}, 10 * MIB, stream)
        graph = client.good("cuStreamEndCapture", stream, {"out": 8})
        execution = client.good("cuGraphInstantiateWithFlags", {"out": 8}, graph, 0)
        client.good("cuGraphLaunch", execution, stream)
        self.assertEqual(client.call("cuGraphLaunch", execution, stream)[0], INVALID_VALUE)  # not freed yet
        client.good("cuDeviceGraphMemTrim", 0)
        self.assertEqual(self.used(), CONTEXT + 10 * MIB)
        client.good("cuMemFree_v2", pointer)
        client.good("cuDeviceGraphMemTrim", 0)
        self.assertEqual(self.used(), CONTEXT)


class Launches(DriverCase):
    def test_count_and_time(self) -> None:
        self.env["GPUPOOL_FAKE_CUDA_KERNEL_NS"] = "500000"
        client = self.client().start()
        module = client.good("cuModuleLoadData", {"out": 8}, "image")
        function = client.good("cuModuleGetFunction", {"out": 8}, module, "kernel")
        begin, end = (client.good("cuEventCreate", {"out": 8}, 0) for _ in range(2))
        client.good("cuEventRecord", begin, 0)
        for _ in range(4):
            client.good("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, 0, None, None)
        client.good("cuEventRecord", end, 0)
        elapsed = client.good("cuEventElapsedTime", {"out": 4}, begin, end)
        self.assertEqual(struct.unpack("f", elapsed.to_bytes(4, "little"))[0], 2.0)
        (process,) = self.ledger()["processes"]
        self.assertEqual((process["launches"], process["kernelNs"]), (4, 2000000))
        client.good("cuModuleUnload", module)
        self.assertEqual(client.call("cuLaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, 0, None, None)[0], INVALID_HANDLE)


class Names(DriverCase):
    def test_not_simulated(self) -> None:
        client = self.client().start()
        self.assertEqual(client.call("cuTexRefCreate", {"out": 8})[0], NOT_SUPPORTED)

    def test_unknown(self) -> None:
        """The first form leaves the pointer alone."""
        client = self.client()
        self.assertEqual(client.call("cuGetProcAddress", "cuNothing", {"out": 8}, 12000, 0), [NOT_FOUND, UNTOUCHED])
        self.assertEqual(client.call("cuGetProcAddress_v2", "cuNothing", {"out": 8}, 12000, 0, {"out": 4}), [0, 0, 1])
        self.assertEqual(client.call("cuGetProcAddress_v2", "cuMemAlloc", {"out": 8}, 1000, 0, {"out": 4}), [0, 0, 2])

    def test_stream_twins(self) -> None:
        """A name with _ptsz does what its twin does, and is another function."""
        client = self.client().start()
        forms = [client.good("cuGetProcAddress_v2", "cuMemAllocAsync", {"out": 8}, 12000, flags, {"out": 4})
                 for flags in (0, 2)]
        self.assertNotEqual(*forms)
        client.good("cuMemAllocAsync_ptsz", {"out": 8}, 1, 0)
        self.assertEqual(self.used(), CONTEXT + CHUNK)
        self.inject("cuMemAllocAsync_ptsz 1 2")
        self.assertEqual(client.call("cuMemAllocAsync_ptsz", {"out": 8}, 1, 0)[0], OUT_OF_MEMORY)

    def test_errors(self) -> None:
        name = self.client().good("cuGetErrorName", OUT_OF_MEMORY, {"out": 8})
        self.assertNotEqual(name, 0)
