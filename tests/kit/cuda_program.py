# SPDX-License-Identifier: Apache-2.0
"""Programs of workers that use a GPU's memory through the driver's library, as any CUDA program does; for Python's -c.

The images of the tests have no driver. Workers mount the one of their node, which is simulated, where the loader looks for it."""

from typing import Any

DRIVER = "/var/lib/gpupool/driver"  # on the node

_OPEN = """
import ctypes, os, sys, time
os.environ["CUDA_VISIBLE_DEVICES"] = os.environ["NVIDIA_VISIBLE_DEVICES"]  # what NVIDIA's runtime sees to
os.environ["GPUPOOL_FAKE_NVML"] = "/driver/nvml.json"
MIB = 1 << 20

def done(code, what):
    if code:
        sys.exit(f"{what}: error {code}")

def use(path):
    cuda = ctypes.CDLL(path)
    device, context = ctypes.c_int(), ctypes.c_void_p()
    done(cuda.cuInit(0), "cuInit")
    done(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    done(cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device), "cuCtxCreate")
    return cuda

def take(mib):
    at = ctypes.c_uint64()
    return cuda.cuMemAlloc_v2(ctypes.byref(at), ctypes.c_size_t(mib * MIB)), at

def total():
    free, all = ctypes.c_size_t(), ctypes.c_size_t()
    done(cuda.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(all)), "cuMemGetInfo")
    return all.value // MIB

"""

# Takes memory until it is refused, says so, and keeps it for as many seconds as its argument says.
GREEDY = _OPEN + """
cuda, taken, code = use("libcuda.so.1"), 0, 0
print("greedy: the GPU seems to have", total(), "MiB", flush=True)
while code == 0:
    code, _ = take(64)
    taken += 0 if code else 64
print("greedy: got", taken, "MiB, then error", code, flush=True)
time.sleep(float(sys.argv[1]))
"""

# Uses as many MiB as its first argument says, gives a part back and takes it again, until the file of its second argument is there.
STEADY = _OPEN + """
cuda, rounds, failures = use("libcuda.so.1"), 0, 0
mib, gate = int(sys.argv[1]), sys.argv[2]
done(take(mib - 256)[0], "the first allocation")
print("steady: uses", mib, "of", total(), "MiB", flush=True)
while not os.path.exists(gate):
    code, at = take(256)
    failures += code != 0
    code == 0 and done(cuda.cuMemFree_v2(at), "cuMemFree")
    rounds += 1
    time.sleep(0.02)
print("steady: took 256 MiB", rounds, "times, refused", failures, "times", flush=True)
"""

# Opens the driver by its path, so that the limiter is not asked, and takes as many MiB as its argument says.
AROUND = _OPEN + """
cuda = use("/driver/libcuda.so.1")
done(take(int(sys.argv[1]))[0], "cuMemAlloc")
print("around: got", sys.argv[1], "MiB", flush=True)
time.sleep(3600)
"""


def cuda_worker(program: str, *arguments: str, **container: Any) -> tuple[dict, dict]:
    """(container, additions to the pod's spec) of a worker that runs it."""
    mounts = [{"name": "driver", "mountPath": "/driver"}, *container.pop("volumeMounts", [])]
    env = [{"name": "LD_LIBRARY_PATH", "value": "/driver"}]
    made = {"name": "worker", "image": "gpupool.dev/pytorch:1", "imagePullPolicy": "IfNotPresent",
            "command": ["python3", "-c", program, *arguments], "env": env, "volumeMounts": mounts, **container}
    return made, {"volumes": [{"name": "driver", "hostPath": {"path": DRIVER, "type": "Directory"}}]}
