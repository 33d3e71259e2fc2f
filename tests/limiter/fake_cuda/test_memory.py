# SPDX-License-Identifier: Apache-2.0
"""The fake driver's memory: what programs are told, and what the ledger says of it."""

from tests.limiter.fake_cuda.driver_case import (CONTEXT, DriverCase, GRANULE, INVALID_CONTEXT, INVALID_VALUE, MEMORY, MIB,
                                                 NOT_INITIALIZED, OUT_OF_MEMORY, SUCCESS, UUID)


class Memory(DriverCase):
    def test_before_init(self) -> None:
        self.assertEqual(self.client().call("cuMemAlloc_v2", {"out": 8}, MIB)[0], NOT_INITIALIZED)

    def test_without_context(self) -> None:
        client = self.client()
        client.good("cuInit", 0)
        self.assertEqual(client.call("cuMemAlloc_v2", {"out": 8}, MIB)[0], INVALID_CONTEXT)
        self.assertEqual(client.call("cuMemFree_v2", 0)[0], INVALID_CONTEXT)
        self.assertEqual(self.used(), 0)

    def test_last_byte(self) -> None:
        """Out of memory begins with the first byte that is not there."""
        client = self.client().start()
        self.assertEqual(client.free_bytes(), MEMORY - CONTEXT)
        self.assertEqual(client.call("cuMemAlloc_v2", {"out": 8}, MEMORY - CONTEXT + 1)[0], OUT_OF_MEMORY)
        self.assertEqual(self.used(), CONTEXT)
        pointer = client.allocate(MEMORY - CONTEXT)
        self.assertEqual((client.free_bytes(), self.used()), (0, MEMORY))
        self.assertEqual(client.call("cuMemAlloc_v2", {"out": 8}, 1)[0], OUT_OF_MEMORY)
        client.good("cuMemFree_v2", pointer)
        self.assertEqual(self.used(), CONTEXT)

    def test_small_blocks(self) -> None:
        """2 MiB hold two of 1 MiB, and are given back with the last of them."""
        client = self.client().start()
        pointers = [client.allocate(MIB) for _ in range(3)]
        self.assertEqual(self.used(), CONTEXT + 2 * GRANULE)
        for pointer, left in zip(pointers, (2, 1, 0)):
            client.good("cuMemFree_v2", pointer)
            self.assertEqual(self.used(), CONTEXT + left * GRANULE, pointer)

    def test_rounding(self) -> None:
        client = self.client().start()
        client.allocate(MIB + 1)
        self.assertEqual(self.used(), CONTEXT + GRANULE)
        client.allocate(GRANULE + 1)
        self.assertEqual(self.used(), CONTEXT + 3 * GRANULE)

    def test_bad_frees(self) -> None:
        client = self.client().start()
        pointer = client.allocate(4 * MIB)
        self.assertEqual(client.call("cuMemFree_v2", pointer + 512)[0], INVALID_VALUE)
        self.assertEqual(client.call("cuMemFree_v2", 0x1234000)[0], INVALID_VALUE)
        self.assertEqual(client.call("cuMemFree_v2", 0)[0], SUCCESS)
        self.assertEqual(self.used(), CONTEXT + 4 * MIB)
        client.good("cuMemFree_v2", pointer)
        self.assertEqual(client.call("cuMemFree_v2", pointer)[0], INVALID_VALUE)
        self.assertEqual(self.used(), CONTEXT)

    def test_other_context(self) -> None:
        """Any context frees any pointer; the end of a context frees what is left of its own."""
        client = self.client().start()
        pointer = client.allocate(4 * MIB)
        other = client.good("cuCtxCreate_v2", {"out": 8}, 0, 0)
        client.allocate(6 * MIB)
        self.assertEqual(self.used(), 2 * CONTEXT + 10 * MIB)
        client.good("cuMemFree_v2", pointer)
        self.assertEqual(self.used(), 2 * CONTEXT + 6 * MIB)
        client.good("cuCtxDestroy_v2", other)
        self.assertEqual(self.used(), CONTEXT)

    def test_primary_context(self) -> None:
        client = self.client().start()
        client.good("cuDevicePrimaryCtxRetain", {"out": 8}, 0)
        self.assertEqual(self.used(), CONTEXT)
        client.good("cuDevicePrimaryCtxRelease_v2", 0)
        self.assertEqual(self.used(), CONTEXT)
        client.good("cuDevicePrimaryCtxRelease_v2", 0)
        self.assertEqual(self.used(), 0)

    def test_pitch_and_managed(self) -> None:
        client = self.client().start()
        pitch = client.call("cuMemAllocPitch_v2", {"out": 8}, {"out": 8}, 1000, 8192, 4)[2]
        self.assertEqual(pitch, 1024)
        self.assertEqual(self.used(), CONTEXT + 8 * MIB)
        client.good("cuMemAllocManaged", {"out": 8}, 2 * MEMORY, 1)  # more than there is
        self.assertEqual(self.used(), CONTEXT + 8 * MIB)
        self.assertEqual(self.ledger()["processes"][0]["managed"], 2 * MEMORY)

    def test_array(self) -> None:
        client = self.client().start()
        descriptor = (1024).to_bytes(8, "little") * 2 + (0x20).to_bytes(4, "little") + (1).to_bytes(4, "little")
        array = client.call("cuArrayCreate_v2", {"out": 8}, {"bytes": descriptor.hex()})[1]
        self.assertEqual(self.used(), CONTEXT + 4 * MIB)
        client.good("cuArrayDestroy", array)
        self.assertEqual(self.used(), CONTEXT)

    def test_content(self) -> None:
        client = self.client().start()
        first, second = client.allocate(64), client.allocate(3 * MIB)
        client.good("cuMemcpyHtoD_v2", first, {"bytes": "0102030405060708"}, 8)
        client.good("cuMemcpyDtoD_v2", second + 16, first, 8)
        self.assertEqual(client.good("cuMemcpyDtoH_v2", {"bytes": "00" * 8}, second + 16, 8), "0102030405060708")
        client.good("cuMemsetD32_v2", first, 0xAABBCCDD, 2)
        self.assertEqual(client.good("cuMemcpyDtoH_v2", {"bytes": "00" * 8}, first, 8), "ddccbbaa" * 2)

    def test_failures(self) -> None:
        """The third call fails and does nothing."""
        self.inject("cuMemAlloc_v2 1 2 2", "cuMemFree_v2 1 999")
        client = self.client().start()
        codes = [client.call("cuMemAlloc_v2", {"out": 8}, 4 * MIB)[0] for _ in range(4)]
        self.assertEqual(codes, [SUCCESS, SUCCESS, OUT_OF_MEMORY, SUCCESS])
        self.assertEqual(self.used(), CONTEXT + 12 * MIB)
        pointer = client.allocate(4 * MIB)
        self.assertEqual(client.call("cuMemFree_v2", pointer)[0], 999)
        self.assertEqual(self.used(), CONTEXT + 16 * MIB)
        client.good("cuMemFree_v2", pointer)

    def test_nvml_agrees(self) -> None:
        client = self.client().start()
        client.allocate(10 * MIB)
        self.assertEqual(self.nvml_used(), CONTEXT + 10 * MIB)
        client.end()
        self.assertEqual(self.nvml_used(), 0)

    def nvml_used(self) -> int:
        script = ("import ctypes; n = ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2(); d = ctypes.c_void_p()\n"
                  f"assert n.nvmlDeviceGetHandleByUUID(b'{UUID}', ctypes.byref(d)) == 0; m = (ctypes.c_uint64 * 3)()\n"
                  "assert n.nvmlDeviceGetMemoryInfo(d, m) == 0; print(m[2])")
        return int(self.output("python3", "-c", script))
