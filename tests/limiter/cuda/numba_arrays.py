# SPDX-License-Identifier: Apache-2.0
"""A program of numba: fills the device with arrays until there is no room. The driver's part of numba alone is used; kernels
need a compiler of NVIDIA's.
"""

import importlib
from typing import Any

import numpy as np

cuda = importlib.import_module("numba.cuda")
PIECE = 16 << 20


def main() -> None:
    total = cuda.current_context().get_memory_info().total
    source = np.arange(1000)
    assert (cuda.to_device(source).copy_to_host() == source).all()
    held: list[Any] = []
    try:
        while True:
            held.append(cuda.device_array(PIECE, dtype=np.uint8))
    except cuda.cudadrv.driver.CudaAPIError as error:
        print(total >> 20, len(held) * PIECE >> 20, error)


main()
