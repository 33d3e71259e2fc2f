# SPDX-License-Identifier: Apache-2.0
"""What NVML says of a GPU to a program that no limiter is in."""

import ctypes
import subprocess


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_uint64), ("free", ctypes.c_uint64), ("used", ctypes.c_uint64)]


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint32), ("used", ctypes.c_uint64), ("instance", ctypes.c_uint32), ("compute", ctypes.c_uint32)]


class Gpu:
    """The first one."""

    def __init__(self) -> None:
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.device = ctypes.c_void_p()
        self.call("nvmlInit_v2")
        self.call("nvmlDeviceGetHandleByIndex_v2", 0, ctypes.byref(self.device))
        self.uuid = self.text("nvmlDeviceGetUUID", self.device)
        self.model = self.text("nvmlDeviceGetName", self.device)
        self.driver = self.text("nvmlSystemGetDriverVersion")
        version = ctypes.c_int()
        self.call("nvmlSystemGetCudaDriverVersion_v2", ctypes.byref(version))
        self.cuda = f"{version.value // 1000}.{version.value % 1000 // 10}"

    def call(self, name: str, *arguments: object) -> None:
        result = getattr(self.nvml, name)(*arguments)
        if result != 0:
            raise RuntimeError(f"{name}: {result}")

    def text(self, name: str, *arguments: object) -> str:
        buffer = ctypes.create_string_buffer(96)
        self.call(name, *arguments, buffer, 96)
        return buffer.value.decode()

    def memory(self) -> Memory:
        memory = Memory()
        self.call("nvmlDeviceGetMemoryInfo", self.device, ctypes.byref(memory))
        return memory

    def used(self) -> int:
        return int(self.memory().used)

    def process(self, pid: int) -> int | None:
        """What a process uses; None: NVML does not tell."""
        count = ctypes.c_uint(256)
        processes = (Process * 256)()
        self.call("nvmlDeviceGetComputeRunningProcesses_v3", self.device, ctypes.byref(count), processes)
        for process in processes[:count.value]:
            if process.pid == pid:
                return None if process.used == 2**64 - 1 else int(process.used)
        return None


def parent_has_no_limiter() -> bool:
    """Whether this process is free of it; else all that it measures is the slice's."""
    return "gpupool-vgpu" not in open("/proc/self/maps", encoding="utf-8").read()


def can_make_namespaces() -> bool:
    try:
        return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/run"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0
    except FileNotFoundError:
        return False
