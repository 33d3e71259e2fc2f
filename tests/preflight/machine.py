# SPDX-License-Identifier: Apache-2.0
"""A made-up machine: a file tree below which gpupool-preflight looks, and a driver."""

import json
import os
import shutil
import socket
import subprocess
import tempfile

from tests.preflight import build

CONTAINERD = """version = 2
[plugins."io.containerd.grpc.v1.cri".containerd]
default_runtime_name = "nvidia"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
SystemdCgroup = true
"""
LISTEN = "   {n}: 0100007F:{port:04X} 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 {inode} 1 0 100 0\n"
KERNEL = "6.1.0-18-amd64"
# A machine on which every check is fine.
GOOD = {
    "etc/containerd/config.toml": CONTAINERD,
    "usr/bin/nvidia-container-runtime": "",
    "sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory pids\n",
    "sys/module/nvidia/version": "550.54.15\n",
    "sys/module/br_netfilter/initstate": "live\n",
    "proc/filesystems": "nodev\toverlay\n\text4\n",
    "proc/swaps": "Filename\tType\tSize\tUsed\tPriority\n",
    "proc/sys/kernel/osrelease": KERNEL + "\n",
    "proc/sys/kernel/hostname": "gpu-1\n",
    "proc/sys/net/ipv4/ip_forward": "1\n",
    "proc/sys/net/bridge/bridge-nf-call-iptables": "1\n",
    "proc/1/comm": "systemd\n",
    "run/systemd/system/here": "",
}
GPUS = [{"count": 2, "model": "NVIDIA A100-SXM4-40GB"}]


class Answer:
    """What one run of the program said."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def checks(self):
        """{name: check} of --json."""
        if not self.out:
            raise AssertionError(f"exit code {self.code}, nothing but: {self.err}")
        return {check["name"]: check for check in json.loads(self.out)["checks"]}


class Machine:
    """Use as a context; its folder goes away with it."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="gpupool-machine-")
        self.nvml, self._sockets = build.FAKE_NVML, []
        for path, text in GOOD.items():
            self.write(path, text)
        self.serve("run/containerd/containerd.sock")
        self.gpus(GPUS)
        return self

    def __exit__(self, *_):
        for server in self._sockets:
            server.close()
        shutil.rmtree(self.root)

    def path(self, path):
        return os.path.join(self.root, path)

    def write(self, path, text):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        with open(self.path(path), "w", encoding="utf-8") as out:
            out.write(text)

    def remove(self, path):
        if os.path.isdir(self.path(path)):
            shutil.rmtree(self.path(path))
        else:
            os.remove(self.path(path))

    def link(self, path, target):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        os.symlink(target, self.path(path))

    def gpus(self, gpus, **driver):
        self.write("nvml.json", json.dumps({"node": "gpu-1", "driver": {"version": "550.54.15", **driver}, "gpus": gpus}))

    def serve(self, path):
        """A socket that takes connections."""
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        server = socket.socket(socket.AF_UNIX)
        server.bind(self.path(path))
        server.listen(8)
        self._sockets.append(server)
        return server

    def listen(self, port, process):
        """Says that a process listens on the port of 127.0.0.1; process None: of which nothing can be seen."""
        inode = 1000 + port
        table = self.path("proc/net/tcp")
        before = open(table, encoding="utf-8").read() if os.path.exists(table) else "  sl  local_address\n"
        self.write("proc/net/tcp", before + LISTEN.format(n=0, port=port, inode=inode))
        if process:
            self.write(f"proc/{port}/comm", process + "\n")
            self.link(f"proc/{port}/fd/3", f"socket:[{inode}]")

    def kubelet(self):
        self.write("var/lib/kubelet/config.yaml", "kind: KubeletConfiguration\n")
        self.write("proc/77/comm", "kubelet\n")
        self.serve("var/lib/kubelet/device-plugins/kubelet.sock")
        self.serve("var/lib/kubelet/pod-resources/kubelet.sock")

    def preflight(self, *arguments, environment=()):
        """An Answer. Nothing of the environment leads to an API server unless it is given here."""
        variables = {"PATH": os.environ["PATH"], "HOME": self.root, "GPUPOOL_FAKE_NVML": self.path("nvml.json"),
                     **{name: value for name, value in os.environ.items() if "SAN_OPTIONS" in name}, **dict(environment)}
        done = subprocess.run([build.PROGRAM, "--root", self.root, "--nvml-library", self.nvml, *arguments], env=variables,
                              capture_output=True, text=True, timeout=120, check=False)
        return Answer(done)

    def judge(self, *arguments, **options):
        """{name: check} of one run."""
        return self.preflight("--json", *arguments, **options).checks()
