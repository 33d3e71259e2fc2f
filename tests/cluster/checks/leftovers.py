# SPDX-License-Identifier: Apache-2.0
"""Lists what a cluster could leave on the machine, by kind, without what belongs to other clusters."""

import glob
import json
import os
import subprocess
from typing import Any

from tests.cluster.harness import processes, state as states

FOLDERS = ["/run", "/run/netns", "/run/containerd", "/var/lib", "/var/lib/kubelet", "/var/lib/cni", "/var/log",
           "/var/log/pods", "/var/log/containers", "/etc/cni", "/opt",
           "/usr/libexec/kubernetes"]


def _output(*command: str) -> Any:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def _foreign(title: str, names: list[str]) -> bool:
    return title.startswith("gpupool-cluster:") and title.partition(":")[2] not in names


def _links(names: list[str]) -> set[Any]:
    links = json.loads(_output("ip", "-j", "link", "show"))
    return {link["ifname"] for link in links if not _foreign(link.get("ifalias", ""), names)}


def _cgroups(names: list[str]) -> Any:
    groups = set()
    for folder in glob.glob("/sys/fs/cgroup/gpupool-*") + glob.glob("/sys/fs/cgroup/*/gpupool-*"):
        if os.path.basename(folder)[len("gpupool-"):] in names:
            groups.add(folder)
    return groups


def _processes(names: list[str]) -> Any:
    """Processes that name one of the clusters in their command line, except this program and its parents."""
    found = set()
    for pid in processes.all_pids():
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as source:
                line = source.read().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if any(f"{states.PREFIX}{name}/" in line or f"gpupool-{kind}:{name}" in line
               for name in names for kind in ("cluster", "node", "keeper")):
            found.add(f"{pid} {line[:100]}")
    return found


def snapshot(names: list[str]) -> dict[str, set[str]]:
    """{kind: set of things}; `names` are the clusters that the caller starts."""
    with open("/proc/mounts", encoding="utf-8") as source:
        mounts = {line.split()[1] for line in source}
    links = _links(names)
    routes = {line.strip() for line in _output("ip", "-4", "route", "show", "table", "all").splitlines()
              if "gpupool-" not in line or any(f"dev {link} " in line + " " for link in links)}
    return {
        "mounts": mounts,
        "links": links,
        "routes": routes,
        "firewall rules": {line for line in _output("iptables-save").splitlines() if line.startswith("-A")},
        "sysctls": {_output("sysctl", "net.ipv4.ip_forward")},
        "cgroups": _cgroups(names),
        "processes": _processes(names),
        "files": {os.path.join(folder, name) for folder in FOLDERS if os.path.isdir(folder)
                  for name in os.listdir(folder)} | {name for name in states.names() if name in names},
    }


def pid_namespaces() -> dict[str | None, list[int]]:
    """The PID namespaces that exist now: {namespace: [pids]}."""
    found = {}
    for pid in processes.all_pids():
        found.setdefault(processes.namespace(pid), []).append(pid)
    return found
