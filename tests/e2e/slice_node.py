# SPDX-License-Identifier: Apache-2.0
"""Slices as the kubelet, the plugin and the containers see them; and the simulated GPUs behind them."""

import json
import os
import re
from typing import Any, Callable

from tests.cluster.harness import cgroups, gpus, processes
from tests.kit.api import Object
from tests.kit.lab import Lab
from tests.kit.names import SLICE, SYSTEM_NAMESPACE
from tests.kit.waiting import wait_for

PLUGIN = "gpupool-device-plugin"
# What a worker prints: its GPUs, the limits that each has, and what the limits file says.
SHOW = ('echo "visible $NVIDIA_VISIBLE_DEVICES"; env | grep ^CUDA_DEVICE_ | sort; grep ^device /etc/gpupool/limits; '
        'echo shown\n')
DEVICE_LINE = re.compile(r"^device (\d+) (\S+) (\d+) (\d+) ([\d,]+)$", re.M)


class Shown:
    """What SHOW printed in one container."""

    def __init__(self, text: str) -> None:
        visible = re.search(r"^visible (\S*)$", text, re.M)
        if not visible:
            raise AssertionError(f"this shows no GPUs: {text}")
        self.visible = visible[1].split(",")
        self.limits = dict(re.findall(r"^(CUDA_DEVICE_\w+)=(\S+)$", text, re.M))
        self.devices = [(uuid, int(memory), int(cores), [f"{uuid}::{ordinal}" for ordinal in ordinals.split(",")])
                        for _, uuid, memory, cores, ordinals in DEVICE_LINE.findall(text)]

    @property
    def ids(self) -> list[Any]:
        return sorted(slice_id for _, _, _, ids in self.devices for slice_id in ids)


def _cgroups_of(pid: int) -> Any:
    try:
        with open(f"/proc/{pid}/cgroup", encoding="utf-8") as source:
            return source.read()
    except OSError:
        return ""


class SliceNode:
    """One node of the cluster under test."""

    def __init__(self, lab: Lab, name: str) -> None:
        self.lab, self.api, self.name = lab, lab.api, name
        self.folder = os.path.join(lab.cluster.folder(), "nodes", name)
        self._control = os.path.join(self.folder, gpus.FOLDER, gpus.CONTROL)
        self.sockets = os.path.join(self.folder, "var/lib/kubelet/device-plugins")

    def report(self) -> Any:
        """Empty until the plugin has made the object and written its status."""
        return (self.api.find("gpunodes", self.name) or {}).get("status", {})

    def allocatable(self, resource: str = SLICE) -> int:
        return int(self.api.get("nodes", self.name)["status"]["allocatable"].get(resource, 0))

    def wait_allocatable(self, count: int, resource: str = SLICE) -> None:
        wait_for(f"{count} {resource} to be allocatable on {self.name}", lambda: self.allocatable(resource) == count,
                 detail=lambda: f"{self.allocatable(resource)}: {self.report()}")

    def wait_report(self, what: str, probe: Callable[[Object], Any]) -> Any:
        return wait_for(f"GpuNode {self.name}: {what}", lambda: self._agrees(probe),
                        detail=lambda: json.dumps(self.report()))

    def _agrees(self, probe: Callable[[Object], Any]) -> Any:
        report = self.report()
        return report and probe(report)

    def pods_by_gpu(self) -> dict[Any, dict[tuple[Any, Any], Any]]:
        """{UUID: {(namespace, pod): slices}}, as podresources says."""
        return {gpu["uuid"]: {(p["namespace"], p["name"]): p["slices"] for p in gpu.get("pods", [])}
                for gpu in self.report().get("gpus", [])}

    def kubelet_ids(self) -> dict[Any, list[Any]]:
        """{pod UID: device IDs}: the kubelet's own book."""
        with open(os.path.join(self.sockets, "kubelet_internal_checkpoint"), encoding="utf-8") as source:
            entries = json.load(source)["Data"]["PodDeviceEntries"] or []
        found = {}
        for entry in entries:
            ids = entry["DeviceIDs"]
            if isinstance(ids, dict):  # from 1.20 on by NUMA node
                ids = [device for part in ids.values() for device in part]
            found.setdefault(entry["PodUID"], []).extend(ids)
        return {uid: sorted(set(ids)) for uid, ids in found.items()}

    def world(self, change: Callable[[Object], Any]) -> None:
        """Lets the simulated machine be changed by change(world)."""
        with open(self._control, encoding="utf-8") as source:
            world = json.load(source)
        change(world)
        with open(self._control + ".new", "w", encoding="utf-8") as out:
            json.dump(world, out)
        os.rename(self._control + ".new", self._control)

    def throw_xid(self, gpu: int, xid: int) -> None:
        def add(world: Object) -> None:
            xids = world.setdefault("xids", [])
            xids.append({"sequence": len(xids) + 1, "gpu": gpu, "xid": xid})
        self.world(add)

    def reload_driver(self) -> None:
        def reload(world: Object) -> None:
            driver = world.setdefault("driver", {})
            driver["load"] = driver.get("load", 1) + 1
        self.world(reload)

    def plugin_pids(self) -> list[Any]:
        """A container has a PID namespace of its own, but lies in its node's cgroups."""
        group = cgroups.group(self.lab.cluster.name, self.name) + "/"
        return [pid for pid in processes.all_pids()
                if os.path.basename(processes.title(pid)) == PLUGIN and group in _cgroups_of(pid)]

    def pid_of(self, pod_uid: str, program: str) -> int | None:
        """A process of a pod's containers that runs this program."""
        ids = (pod_uid, pod_uid.replace("-", "_"))
        return next((pid for pid in processes.all_pids() if os.path.basename(processes.title(pid)) == program
                     and any(name in _cgroups_of(pid) for name in ids)), None)

    def plugin_pod(self) -> Any:
        (pod,) = [p for p in self.api.list("pods", SYSTEM_NAMESPACE) if p["spec"].get("nodeName") == self.name
                  and p["metadata"]["labels"].get("app.kubernetes.io/component") == "device-plugin"
                  and "deletionTimestamp" not in p["metadata"]]
        return pod

    def our_sockets(self) -> Any:
        """{identity: path}; a socket that is made again is another one."""
        found = {}
        for name in os.listdir(self.sockets):
            if name.startswith("gpupool-") and name.endswith(".sock"):
                path = os.path.join(self.sockets, name)
                try:
                    info = os.stat(path)
                except FileNotFoundError:
                    continue
                found[(name, info.st_ino, info.st_mtime_ns)] = path
        return found
