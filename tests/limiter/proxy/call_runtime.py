#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""call_runtime.py LIBRARY: calls functions of a CUDA runtime, and prints what each returns. Without a GPU all of it is errors.

Each function gets the same arguments: pointers to memory of zeros where it wants to write, small numbers elsewhere.
"""

import ctypes
import sys

OUT, SIZE, ZERO = "out", "size", "zero"
CALLS: dict[str, tuple[str, ...]] = {
    "cudaRuntimeGetVersion": (OUT,), "cudaDriverGetVersion": (OUT,), "cudaGetDeviceCount": (OUT,), "cudaGetDevice": (OUT,),
    "cudaSetDevice": (ZERO,), "cudaInitDevice": (ZERO, ZERO, ZERO), "cudaFree": (ZERO,), "cudaMalloc": (OUT, SIZE),
    "cudaMallocManaged": (OUT, SIZE, SIZE), "cudaMallocAsync": (OUT, SIZE, ZERO), "cudaMallocHost": (OUT, SIZE),
    "cudaHostAlloc": (OUT, SIZE, ZERO), "cudaMemGetInfo": (OUT, OUT), "cudaMemset": (OUT, ZERO, ZERO),
    "cudaMemcpy": (OUT, OUT, ZERO, ZERO), "cudaDeviceGetAttribute": (OUT, SIZE, ZERO), "cudaDeviceGetDefaultMemPool": (OUT, ZERO),
    "cudaDeviceGetLimit": (OUT, ZERO), "cudaDeviceSetLimit": (ZERO, SIZE), "cudaDeviceGetPCIBusId": (OUT, SIZE, ZERO),
    "cudaDeviceCanAccessPeer": (OUT, ZERO, ZERO), "cudaStreamCreate": (OUT,), "cudaStreamSynchronize": (ZERO,),
    "cudaEventCreate": (OUT,), "cudaGraphCreate": (OUT, ZERO), "cudaGetDriverEntryPoint": (OUT, OUT, ZERO, OUT),
    "cudaPointerGetAttributes": (OUT, OUT), "cudaDeviceSynchronize": (), "cudaPeekAtLastError": (), "cudaGetLastError": (),
    "cudaProfilerStart": (), "cudaDeviceReset": ()}


def main() -> None:
    library = ctypes.CDLL(sys.argv[1])
    for name, arguments in CALLS.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            print(name, "-")
            continue
        memory = [ctypes.create_string_buffer(4096) for _ in arguments]
        values = [memory[i] if kind == OUT else ctypes.c_uint64(1 if kind == SIZE else 0) for i, kind in enumerate(arguments)]
        result = function(*values)
        said = [int.from_bytes(memory[i].raw[:4], "little") for i, kind in enumerate(arguments) if kind == OUT]
        print(name, result, *(said if name.endswith(("Version", "Count")) else []))


main()
