# SPDX-License-Identifier: Apache-2.0
"""Which job sits on which GPU, as the device plugins report it: a line for each GPU, a sign for each slice."""

import string
from typing import Any, Iterable

from tests.kit.api import Object

CELLS = 10  # a whole GPU is drawn as wide as one in ten slices
FREE, SICK, STRANGER = ".", "x", "?"


class Picture:
    """Each job keeps its letter."""

    def __init__(self, names: list[str]) -> None:
        self._letters = dict(zip(names, string.ascii_uppercase))

    def draw(self, nodes: Iterable[Object]) -> list[str]:
        """Lines for GpuNodes."""
        return [self._line(node["metadata"]["name"], gpu) for node in sorted(nodes, key=lambda n: n["metadata"]["name"])
                for gpu in node.get("status", {}).get("gpus", [])]

    def _line(self, node: str, gpu: Object) -> str:
        slices = gpu.get("slices", {})
        width = CELLS // slices["total"] if 0 < slices.get("total", 0) <= CELLS else 1
        used = {}
        for pod in gpu.get("pods", []):
            job = self._job_of(pod["name"])
            used[job] = used.get(job, 0) + pod.get("slices", 1)
        cells = "".join(self._letters.get(job, STRANGER) * count for job, count in sorted(used.items()))
        healthy = gpu.get("health") == "Healthy"
        cells += (FREE if healthy else SICK) * (slices.get("total", 0) - len(cells))
        who = "  ".join(f"{self._letters.get(job, STRANGER)} {job}" for job in sorted(used))
        trouble = "" if healthy else "  " + gpu.get("reason", "")
        bar = "".join(cell * width for cell in cells)
        return f"{node}  GPU {gpu.get('index', '?')}  {gpu.get('model', ''):<10} [{bar}]  {who}{trouble}".rstrip()

    def _job_of(self, pod: str) -> Any:
        """Workers are called JOB-N and more."""
        owners = [job for job in self._letters if pod.startswith(job + "-")]
        return max(owners, key=len, default=pod)


def used_gpus(nodes: Iterable[Object]) -> int:
    return sum(bool(gpu.get("pods")) for node in nodes for gpu in node.get("status", {}).get("gpus", []))
