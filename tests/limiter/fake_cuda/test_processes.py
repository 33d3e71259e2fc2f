# SPDX-License-Identifier: Apache-2.0
"""Several processes on one GPU of the fake driver."""

import struct

from tests.limiter.fake_cuda.driver_case import (CONTEXT, DriverCase, INVALID_CONTEXT, INVALID_VALUE, MEMORY, MIB,
                                                 OUT_OF_MEMORY)

DEVICE_MEMORY = struct.pack("iiiiQBBHI", 1, 1, 1, 0, 0, 0, 0, 0, 0).hex()  # that can be exported as a file descriptor


class Processes(DriverCase):
    def test_share_a_gpu(self) -> None:
        first, second = self.client().start(), self.client().start()
        first.allocate(500 * MIB)
        self.assertEqual(second.free_bytes(), MEMORY - 2 * CONTEXT - 500 * MIB)
        self.assertEqual(second.call("cuMemAlloc_v2", {"out": 8}, 302 * MIB)[0], OUT_OF_MEMORY)
        second.allocate(300 * MIB)
        self.assertEqual(first.free_bytes(), 0)
        processes = {process["pid"]: process["memory"] for process in self.ledger()["processes"]}
        self.assertEqual(processes, {first.process.pid: 500 * MIB, second.process.pid: 300 * MIB})

    def test_death(self) -> None:
        """The bytes of a killed process are there for the next allocation, and its slot for the next process."""
        first, second = self.client().start(), self.client().start()
        first.allocate(700 * MIB)
        self.assertEqual(second.call("cuMemAlloc_v2", {"out": 8}, 700 * MIB)[0], OUT_OF_MEMORY)
        first.end()
        self.assertEqual(self.used(), CONTEXT)
        second.allocate(MEMORY - CONTEXT)
        self.assertEqual(self.used(), MEMORY)
        second.end()
        self.client().start()
        self.assertEqual(self.used(), CONTEXT)

    def test_exported_memory(self) -> None:
        """One charge, the exporter's; after its death the importer's."""
        first, second = self.client().start(), self.client().start()
        handle = first.good("cuMemCreate", {"out": 8}, 10 * MIB, {"bytes": DEVICE_MEMORY}, 0)
        file = first.good("cuMemExportToShareableHandle", {"out": 4}, handle, 1, 0)
        own = second.call("open", f"/proc/{first.process.pid}/fd/{file}")[0]
        imported = second.good("cuMemImportFromShareableHandle", {"out": 8}, own, 1)
        self.assertEqual(self.used(), 2 * CONTEXT + 10 * MIB)
        first.end()
        self.assertEqual(self.used(), CONTEXT + 10 * MIB)
        second.good("cuMemRelease", imported)
        self.assertEqual(self.used(), CONTEXT)

    def test_lent_memory(self) -> None:
        first, second = self.client().start(), self.client().start()
        pointer = first.allocate(10 * MIB)
        first.good("cuMemcpyHtoD_v2", pointer, {"bytes": "0badcafe"}, 4)
        handle = first.good("cuIpcGetMemHandle", {"bytes": "00" * 64}, pointer)
        self.assertEqual(first.call("cuIpcOpenMemHandle_v2", {"out": 8}, {"value": handle}, 1)[0], INVALID_CONTEXT)
        borrowed = second.good("cuIpcOpenMemHandle_v2", {"out": 8}, {"value": handle}, 1)
        self.assertEqual(second.good("cuMemcpyDtoH_v2", {"bytes": "00" * 4}, borrowed, 4), "0badcafe")
        self.assertEqual(self.used(), 2 * CONTEXT + 10 * MIB)
        self.assertEqual(second.call("cuMemFree_v2", borrowed)[0], INVALID_VALUE)
        second.good("cuIpcCloseMemHandle", borrowed)
        first.good("cuMemFree_v2", pointer)
        self.assertEqual(self.used(), 2 * CONTEXT)

    def test_mappings(self) -> None:
        """Memory lives until it has neither handles nor mappings."""
        client = self.client().start()
        handle = client.good("cuMemCreate", {"out": 8}, 4 * MIB, {"bytes": DEVICE_MEMORY}, 0)
        self.assertEqual(client.call("cuMemCreate", {"out": 8}, MIB, {"bytes": DEVICE_MEMORY}, 0)[0], INVALID_VALUE)
        address = client.good("cuMemAddressReserve", {"out": 8}, 8 * MIB, 0, 0, 0)
        client.good("cuMemMap", address, 4 * MIB, 0, handle, 0)
        self.assertEqual(client.call("cuMemMap", address, 4 * MIB, 0, handle, 0)[0], INVALID_VALUE)
        self.assertEqual(client.call("cuMemsetD8_v2", address, 1, 1)[0], INVALID_VALUE)  # no access yet
        client.good("cuMemSetAccess", address, 4 * MIB, {"bytes": struct.pack("iii", 1, 0, 3).hex()}, 1)
        client.good("cuMemsetD8_v2", address, 1, 4 * MIB)
        client.good("cuMemRelease", handle)
        self.assertEqual(self.used(), CONTEXT + 4 * MIB)
        retained = client.good("cuMemRetainAllocationHandle", {"out": 8}, address)
        client.good("cuMemUnmap", address, 4 * MIB)
        self.assertEqual(self.used(), CONTEXT + 4 * MIB)
        client.good("cuMemRelease", retained)
        self.assertEqual(self.used(), CONTEXT)
        self.assertEqual(client.call("cuMemRelease", retained)[0], INVALID_VALUE)
        client.good("cuMemAddressFree", address, 8 * MIB)
