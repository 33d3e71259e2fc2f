# SPDX-License-Identifier: Apache-2.0
"""The driver as a program inside a slice calls it."""

import ctypes
from typing import Any

MIB = 1 << 20
OUT_OF_MEMORY = 2


class ArrayDescriptor(ctypes.Structure):
    _fields_ = [("width", ctypes.c_size_t), ("height", ctypes.c_size_t), ("depth", ctypes.c_size_t), ("format", ctypes.c_int),
                ("channels", ctypes.c_uint), ("flags", ctypes.c_uint)]


class Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class PoolProperties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location), ("security", ctypes.c_void_p),
                ("max_size", ctypes.c_size_t), ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 54)]


class MemoryProperties(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handles", ctypes.c_int), ("location", Location), ("metadata", ctypes.c_void_p),
                ("flags", ctypes.c_ubyte * 8)]


class Access(ctypes.Structure):
    _fields_ = [("location", Location), ("flags", ctypes.c_int)]


DEVICE = Location(1, 0)
PINNED = 1
READ_WRITE = 3


class Cuda:
    """The first device, by its primary context."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL("libcuda.so.1")
        self.good("cuInit", 0)
        self.good("cuCtxSetCurrent", self.made("cuDevicePrimaryCtxRetain", 0))

    def call(self, name: str, *arguments: Any) -> int:
        return int(getattr(self.library, name)(*(ctypes.c_uint64(each) if isinstance(each, int) else each for each in arguments)))

    def good(self, name: str, *arguments: Any) -> None:
        result = self.call(name, *arguments)
        if result != 0:
            raise RuntimeError(f"{name}: {result}")

    def made(self, name: str, *arguments: Any) -> int:
        """The handle or number that it writes to its first argument."""
        out = ctypes.c_uint64()
        self.good(name, ctypes.byref(out), *arguments)
        return out.value

    def info(self) -> tuple[int, int]:
        """(free, total)."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.good("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def free(self) -> int:
        return self.info()[0]

    def try_allocate(self, size: int, stream_ordered: bool = False) -> int | None:
        """None: out of memory."""
        out = ctypes.c_uint64()
        result = (self.call("cuMemAllocAsync", ctypes.byref(out), size, None) if stream_ordered
                  else self.call("cuMemAlloc_v2", ctypes.byref(out), size))
        if result not in (0, OUT_OF_MEMORY):
            raise RuntimeError(f"an allocation of {size} bytes: {result}")
        return out.value if result == 0 else None
