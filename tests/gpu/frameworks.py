# SPDX-License-Identifier: Apache-2.0
"""The parts of tests/gpu/run that need frameworks (M9, M11). What is not installed is told."""

from typing import Callable

from tests.gpu.parts import Machine, fill_slice
from tests.gpu.report import Report

TORCH_FILL = """
import torch
kept, taken = [], 0
for size in (64 << 20, 16 << 20, 2 << 20):
    try:
        while True:
            kept.append(torch.empty(size, dtype=torch.uint8, device="cuda"))
            taken += size
    except torch.cuda.OutOfMemoryError:
        pass
"""
TORCH_TRAIN = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(10):
    optimizer.zero_grad()
    model(torch.randn(64, 1024, device="cuda")).square().sum().backward()
    optimizer.step()
torch.cuda.synchronize()
"""
# As vLLM sizes its cache: nine tenths of the total, less what is used.
SERVING = """
import torch
free, total = torch.cuda.mem_get_info()
size = int(total * 0.9) - (total - free)
assert size > 0, (free, total)
kept = torch.zeros(size, dtype=torch.uint8, device="cuda")
torch.cuda.synchronize()
"""
JAX = """
import jax
import jax.numpy as jnp
assert jax.devices()[0].platform == "gpu", jax.devices()
matrix = jnp.ones((2048, 2048))
assert float((matrix @ matrix).sum()) > 0
"""
CUPY = """
import cupy
kept = []
try:
    while True:
        kept.append(cupy.zeros(64 << 20, dtype=cupy.uint8))
except cupy.cuda.memory.OutOfMemoryError:
    pass
taken = sum(each.nbytes for each in kept)
"""
TRITON = """
import importlib.util, pathlib, tempfile
import torch
source = '''
import triton
import triton.language as tl
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
'''
path = pathlib.Path(tempfile.mkdtemp()) / "kernels.py"  # Triton reads the source of its kernels
path.write_text(source)
spec = importlib.util.spec_from_file_location("kernels", path)
kernels = importlib.util.module_from_spec(spec)
spec.loader.exec_module(kernels)
x = torch.ones(1 << 20, device="cuda")
y = torch.empty_like(x)
kernels.double[(1 << 10,)](x, y, x.numel(), BLOCK=1024)
assert float(y.sum()) == 2 << 20
"""


def torch(machine: Machine, report: Report) -> None:
    """M9: PyTorch fills the slice until it gets its out-of-memory error."""
    fill_slice(machine, report, "PyTorch", 1, "framework", "torch", TORCH_FILL)


def frameworks(machine: Machine, report: Report) -> None:
    """M11: training, serving, JAX, CuPy and Triton start and run in a fifth of the GPU."""
    for name, module, code in (("PyTorch, training", "torch", TORCH_TRAIN), ("PyTorch, serving", "torch", SERVING),
                               ("JAX", "jax", JAX), ("CuPy", "cupy", CUPY), ("Triton", "triton", TRITON)):
        fill_slice(machine, report, name, 1, "framework", module, code)


PARTS: dict[str, Callable[[Machine, Report], None]] = {part.__name__: part for part in (torch, frameworks)}
