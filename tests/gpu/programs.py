# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/gpu/inside."""

import ctypes
import json
import os
import subprocess
import sys
import time
from typing import Any, Callable

from tests.gpu.cuda import (DEVICE, MIB, PINNED, READ_WRITE, Access, ArrayDescriptor, Cuda, MemoryProperties, PoolProperties)
from tests.gpu.outside import Gpu

FILL_STEPS = (64 * MIB, 16 * MIB, 2 * MIB, MIB // 2)
SMALL_AT_MOST = 50_000
POOL_REQUESTS = (1, 2, 3, 8, 31, 33, 64, 100, 1000)  # MiB
RESERVED_NOW = 5  # CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT
DEFERRED, LAYERED = 0x80, 1
UINT8, FLOAT32 = 0x01, 0x20
ARRAYS = {"1000 of 1 byte": (1000, 0, 0, UINT8, 1, 0), "4096 x 4096 of 4 bytes": (4096, 4096, 0, FLOAT32, 1, 0),
          "1000 x 1000 of 16 bytes": (1000, 1000, 0, FLOAT32, 4, 0), "333 x 77 of 1 byte": (333, 77, 0, UINT8, 1, 0),
          "256 x 256 x 256 of 4 bytes": (256, 256, 256, FLOAT32, 1, 0),
          "1024 x 1024 of 4 bytes, 10 layers": (1024, 1024, 10, FLOAT32, 1, LAYERED)}
ARRAYS_AT_A_TIME = 4
STACK_LIMIT, STACK_BYTES = 0, 4 << 10
MODULES = 100
CALLS = 20_000
PTX = """.version 6.4
.target sm_70
.address_size 64
.visible .global .align 8 .b8 data{number}[1048576];
.visible .entry kernel{number}() {{ ret; }}
"""


def say(value: Any) -> None:
    print(json.dumps(value), flush=True)
    sys.stdin.readline()


def fill(kind: str = "plain", seconds: str = "0") -> None:
    """Allocates until nothing more is to be had, and for so many seconds, and keeps it. First it has its context and waits."""
    cuda = Cuda()
    say({"ready": True})
    taken = 0
    end = time.monotonic() + float(seconds)
    while True:
        for size in FILL_STEPS:
            while cuda.try_allocate(size, kind == "async") is not None:
                taken += size
        if time.monotonic() >= end:
            break
    say({"pid": os.getpid(), "taken": taken})


def sizes() -> None:
    cuda = Cuda()
    gpu = Gpu()
    rows = []
    for step in range(3):
        if step == 1:
            pointer = cuda.try_allocate(256 * MIB)
        if step == 2:
            cuda.good("cuMemFree_v2", pointer)
        free, total = cuda.info()
        nvml = gpu.memory()
        rows.append({"free": free, "total": total, "device": cuda.made("cuDeviceTotalMem_v2", 0),
                     "nvml_free": nvml.free, "nvml_total": nvml.total})
    say(rows)


def contexts() -> None:
    """After each step it says so, and once more when it has called the driver later."""
    cuda = Cuda()

    def settle(step: str) -> None:
        say({"step": step, "pid": os.getpid()})
        cuda.info()
        say({"step": step, "settled": True})

    settle("context")
    for number in range(MODULES):
        module = cuda.made("cuModuleLoadData", PTX.format(number=number).encode())
        cuda.made("cuModuleGetFunction", module, f"kernel{number}".encode())
    settle("modules")
    cuda.good("cuCtxSetLimit", STACK_LIMIT, STACK_BYTES)
    settle("stack")


def small() -> None:
    """How many bytes vanish at once, after how many allocations of 1 byte, and how far apart these lie."""
    cuda = Cuda()
    before = cuda.free()
    pointers: list[int] = []
    drops: list[list[int]] = []  # [allocations so far, bytes]
    while len(drops) < 3 and len(pointers) < SMALL_AT_MOST:
        pointer = cuda.try_allocate(1)
        assert pointer is not None
        pointers.append(pointer)
        free = cuda.free()
        if free != before:
            drops.append([len(pointers), before - free])
            before = free
    ordered = sorted(pointers)
    spacing = min((b - a for a, b in zip(ordered, ordered[1:])), default=0)
    say({"pid": os.getpid(), "drops": drops, "spacing": spacing, "allocations": len(pointers)})


def pools() -> None:
    cuda = Cuda()
    rows = {}
    for mib in POOL_REQUESTS:
        before = cuda.free()
        properties = PoolProperties(PINNED, 0, DEVICE)
        pool = cuda.made("cuMemPoolCreate", ctypes.byref(properties))
        pointer = cuda.made("cuMemAllocFromPoolAsync", mib * MIB, pool, None)
        cuda.good("cuStreamSynchronize", None)
        reserved = ctypes.c_uint64()
        cuda.good("cuMemPoolGetAttribute", pool, RESERVED_NOW, ctypes.byref(reserved))
        rows[f"{mib} MiB"] = [before - cuda.free(), reserved.value]
        cuda.good("cuMemFreeAsync", pointer, None)
        cuda.good("cuStreamSynchronize", None)
        cuda.good("cuMemPoolDestroy", pool)
    say(rows)


def arrays() -> None:
    """What some of each kind take together, and what the driver says of a deferred twin."""
    cuda = Cuda()
    rows = {}
    for name, (width, height, depth, form, channels, flags) in ARRAYS.items():
        descriptor = ArrayDescriptor(width, height, depth, form, channels, flags)
        needs = (ctypes.c_uint64 * 4)()
        twin = cuda.made("cuArray3DCreate_v2", ctypes.byref(ArrayDescriptor(width, height, depth, form, channels, flags | DEFERRED)))
        told = needs[0] if cuda.call("cuArrayGetMemoryRequirements", needs, twin, 0) == 0 else 0
        cuda.good("cuArrayDestroy", twin)
        before = cuda.free()
        made = [cuda.made("cuArray3DCreate_v2", ctypes.byref(descriptor)) for _ in range(ARRAYS_AT_A_TIME)]
        rows[name] = [before - cuda.free(), told]
        for array in made:
            cuda.good("cuArrayDestroy", array)
    say(rows)


def orders() -> None:
    """Free memory before, during and after each order in which memory is given back; and after a fork and an exec."""
    cuda = Cuda()
    size = 64 * MIB
    rows = {}
    for name in ("nccl", "vllm"):
        before = cuda.free()
        handle = cuda.made("cuMemCreate", size, ctypes.byref(MemoryProperties(PINNED, 0, DEVICE)), 0)
        address = cuda.made("cuMemAddressReserve", size, 0, 0, 0)
        cuda.good("cuMemMap", address, size, 0, handle, 0)
        cuda.good("cuMemSetAccess", address, size, ctypes.byref(Access(DEVICE, READ_WRITE)), 1)
        during = cuda.free()
        if name == "nccl":
            again = cuda.made("cuMemRetainAllocationHandle", ctypes.c_void_p(address))
            for release in (handle, again):
                cuda.good("cuMemRelease", release)
            cuda.good("cuMemUnmap", address, size)
        else:
            cuda.good("cuMemUnmap", address, size)
            cuda.good("cuMemRelease", handle)
        cuda.good("cuMemAddressFree", address, size)
        rows[name] = [before - during, before - cuda.free()]
    before = cuda.free()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    subprocess.run(["/bin/true"], check=True)
    rows["fork and exec"] = [size, before - cuda.free()]
    say(rows)


def per_call(call: Callable[[], Any], calls: int = CALLS) -> float:
    """Nanoseconds, those of this program's own loop included."""
    begin = time.perf_counter_ns()
    for _ in range(calls):
        call()
    return (time.perf_counter_ns() - begin) / calls


def speed() -> None:
    """Nanoseconds of calls: a launch of an empty kernel, and memory that is taken and given back."""
    cuda = Cuda()
    library = cuda.library
    module = cuda.made("cuModuleLoadData", PTX.format(number=0).encode())
    kernel = ctypes.c_void_p(cuda.made("cuModuleGetFunction", module, b"kernel0"))
    none = ctypes.c_void_p()

    def allocate(size: int) -> Callable[[], None]:
        pointer = ctypes.c_uint64()
        to_pointer, count = ctypes.byref(pointer), ctypes.c_size_t(size)

        def pair() -> None:
            if library.cuMemAlloc_v2(to_pointer, count) != 0 or library.cuMemFree_v2(pointer) != 0:
                raise RuntimeError(f"{size} bytes")

        return pair

    def launch() -> None:
        if library.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, none, none, none) != 0:
            raise RuntimeError("a launch")

    rows = {"launch": per_call(launch)}
    cuda.good("cuCtxSynchronize")
    for name, size in (("1 KiB", 1024), ("64 MiB", 64 * MIB)):
        rows[f"allocation and free of {name}"] = per_call(allocate(size), CALLS // 10)
    rows["cuMemGetInfo"] = per_call(cuda.info, CALLS // 10)
    say(rows)


def framework(name: str, code: str) -> None:
    """Runs a piece of Python that ends well if the framework works in the slice."""
    try:
        module = __import__(name)
    except ImportError:
        say({"missing": name})
        return
    if name == "torch" and module.version.cuda is None:
        say({"missing": "torch that is built for CUDA"})
        return
    say({"ready": True})
    outcome: dict[str, Any] = {"pid": os.getpid()}
    try:
        exec(compile(code, name, "exec"), outcome)  # pylint: disable=exec-used
    except Exception as error:  # pylint: disable=broad-except
        outcome["error"] = f"{type(error).__name__}: {error}"[:500]
    say({key: outcome[key] for key in ("pid", "taken", "error") if key in outcome})


PROGRAMS: dict[str, Callable[..., None]] = {"fill": fill, "sizes": sizes, "contexts": contexts, "small": small, "pools": pools,
                                            "arrays": arrays, "orders": orders, "speed": speed, "framework": framework}
