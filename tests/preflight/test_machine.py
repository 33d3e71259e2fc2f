# SPDX-License-Identifier: Apache-2.0
"""Checks that look at the machine itself: each verdict on a machine that has just this one thing wrong."""

import ctypes
import unittest

from tests.preflight import build, servers
from tests.preflight.machine import CONTAINERD, KERNEL, Machine

L4 = {"model": "NVIDIA L4"}


class MachineTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build.require(build.PROGRAM, build.FAKE_NVML, build.MISMATCHED_NVML)

    def setUp(self):
        self.machine = self.enterContext(Machine())

    def expect(self, name, verdict, found, remedy="", arguments=()):
        answer = self.machine.preflight("--json", "--only", name, *arguments)
        checks = answer.checks()
        self.assertEqual([name], list(checks), "only this check was asked for")
        check = checks[name]
        self.assertEqual(verdict, check["verdict"], check)
        self.assertIn(found, check["found"])
        self.assertIn(remedy, check["remedy"])
        self.assertEqual(verdict == "ok", check["remedy"] == "", check)
        self.assertEqual(1 if verdict == "fail" else 0, answer.code)

    def test_driver(self):
        self.expect("driver", "ok", "driver 550.54.15 (CUDA 12.4), 2 GPUs")
        self.machine.gpus([])
        self.expect("driver", "fail", "finds no GPU", "nvidia-smi")
        self.machine.gpus([L4], loaded=False)
        self.expect("driver", "fail", "module nvidia is not loaded", "modprobe nvidia")
        self.machine.write("sys/module/nouveau/initstate", "live\n")
        self.expect("driver", "fail", "nouveau", "blacklist nouveau")

    def test_driver_serves_fewer_gpus_than_there_are(self):
        for number, kind in enumerate(["0x030000", "0x030200", "0x030200", "0x040300"]):  # the last is sound
            self.machine.write(f"sys/bus/pci/devices/0000:0{number}:00.0/vendor", "0x10de\n")
            self.machine.write(f"sys/bus/pci/devices/0000:0{number}:00.0/class", kind + "\n")
        self.expect("driver", "warn", "serves 2 of 3 GPUs", "dmesg")

    def test_driver_of_two_versions(self):
        self.machine.nvml = build.MISMATCHED_NVML
        self.expect("driver", "fail", "the kernel module is 550.54.15, the library is another version", "reboot")

    def test_driver_without_library(self):
        self.machine.nvml = self.machine.path("none.so")
        self.expect("driver", "fail", "the kernel has driver 550.54.15, but NVML is missing", "libnvidia-ml1")
        self.machine.remove("sys/module/nvidia")
        self.expect("driver", "fail", "no NVIDIA GPU on the PCI bus", "apt install nvidia-driver")

    def test_gpu_model(self):
        self.expect("gpu-model", "ok", "2 x NVIDIA-A100-SXM4-40GB (40960 MiB), compared with no pool")
        self.expect("gpu-model", "ok", "40960 MiB", arguments=["--models", "X,NVIDIA-A100-SXM4-40GB", "--min-memory", "40Gi"])
        self.expect("gpu-model", "fail", "GPU 0,1, NVIDIA-A100-SXM4-40GB (40960 MiB): GPU model", "kubectl get gpupools",
                    ["--models", "NVIDIA-L4"])
        self.expect("gpu-model", "fail", "GPU memory is below 41Gi", "spec.gpus", ["--min-memory", "41Gi"])
        self.machine.gpus([L4, {"model": "NVIDIA A10"}])
        self.expect("gpu-model", "fail", "because they differ", "one model", ["--models", "NVIDIA-L4,NVIDIA-A10"])

    def test_container_runtime(self):
        self.expect("container-runtime", "ok", "containerd, runtime nvidia")
        self.machine.write("etc/containerd/config.toml", CONTAINERD.replace('"nvidia"', '"runc"'))
        self.expect("container-runtime", "warn", "not the default, which is runc", "nvidia-ctk runtime configure")
        self.machine.write("etc/containerd/config.toml", CONTAINERD.replace("= true", "= false"))
        self.expect("container-runtime", "warn", "systemd manages the machine's cgroups", "SystemdCgroup = true")
        self.machine.write("etc/containerd/config.toml", "version = 2\n")
        self.expect("container-runtime", "fail", "no runtime for NVIDIA's GPUs", "nvidia-container-toolkit")
        self.machine.write("etc/containerd/config.toml", "version = \n")
        self.expect("container-runtime", "fail", "line 1", "correct the file")

    def test_container_runtime_by_cdi(self):
        self.machine.write("etc/containerd/config.toml", "version = 3\n[plugins.'io.containerd.cri.v1.runtime']\n")
        self.machine.write("run/cdi/nvidia.yaml", "kind: nvidia.com/gpu\ndevices: [{name: all}]\n")
        self.machine.link("var/run", "/run")
        self.expect("container-runtime", "warn", "the CDI spec /var/run/cdi/nvidia.yaml", "cdiAnnotations: true")

    def test_container_runtime_that_is_gone(self):
        self.machine.remove("usr/bin/nvidia-container-runtime")
        self.expect("container-runtime", "fail", "/usr/bin/nvidia-container-runtime does not exist", "nvidia-container-toolkit")
        self.machine.remove("run/containerd")
        self.expect("container-runtime", "fail", "containerd does not run", "systemctl enable --now containerd")
        self.machine.remove("etc/containerd")
        self.expect("container-runtime", "fail", "neither containerd nor CRI-O", "apt install containerd")

    def test_crio(self):
        self.machine.remove("run/containerd")
        self.machine.remove("etc/containerd")
        self.machine.write("etc/crio/crio.conf.d/99-nvidia.conf", """[crio.runtime]
default_runtime = "nvidia"
[crio.runtime.runtimes.nvidia]
runtime_path = "/usr/bin/nvidia-container-runtime"
""")
        self.machine.serve("run/crio/crio.sock")
        self.expect("container-runtime", "ok", "CRI-O, runtime nvidia")
        self.machine.remove("run/systemd")
        self.expect("container-runtime", "fail", "leaves its cgroups to systemd", 'cgroup_manager = "cgroupfs"')

    def test_cgroups(self):
        self.expect("cgroups", "ok", "cgroup v2 with cpu cpuset io memory pids")
        self.machine.write("sys/fs/cgroup/cgroup.controllers", "cpu cpuset pids\n")
        self.expect("cgroups", "fail", "cgroup v2 lacks memory", "cgroup_enable=memory")
        self.machine.remove("sys/fs/cgroup/cgroup.controllers")
        self.expect("cgroups", "fail", "no control groups", "mount")
        names = ("cpu", "cpuset", "memory", "pids", "devices")
        self.machine.write("proc/cgroups", "#subsys_name hierarchy num_cgroups enabled\n" + "".join(
            f"{name}\t{number}\t9\t1\n" for number, name in enumerate(names, 1)))
        self.expect("cgroups", "warn", "cgroup v1", "unified_cgroup_hierarchy")
        self.machine.write("proc/cgroups", "cpu 1 9 1\ncpuset 0 9 1\nmemory 2 9 0\npids 3 9 1\ndevices 4 9 1\n")
        self.expect("cgroups", "fail", "lacks cpuset, memory", "cgroup_enable=cpuset")

    def test_time_is_what_the_kernel_says(self):
        unsynchronised = ctypes.CDLL(None).adjtimex(ctypes.create_string_buffer(512)) == 5  # TIME_ERROR
        if unsynchronised:
            self.expect("time", "warn", "nothing synchronises the clock", "chrony")
        else:
            self.expect("time", "ok", "the clock is synchronised")

    def test_ports(self):
        self.expect("ports", "ok", "10250 free, 10248 free, 10256 free")
        healthy = {"/healthz": (200, {})}
        self.machine.listen(10248, "kubelet")
        self.machine.listen(10256, None)
        self.expect("ports", "fail", "held by kubelet, which does not answer", "journalctl -u kubelet")
        with servers.Server(healthy, port=10248), servers.Server(healthy, port=10256):
            self.expect("ports", "ok", "10250 free, 10248 kubelet, 10256 kube-proxy")
        self.machine.listen(10250, "nginx")
        self.expect("ports", "fail", "port 10250 of the kubelet is held by nginx", "ss -ltnp 'sport = :10250'")

    def test_ports_where_proc_is_of_others(self):
        """A /proc of another PID namespace, in which `self` leads nowhere, must not look as if all were free."""
        self.machine.link("proc/net", "self/net")
        self.expect("ports", "ok", "10256 free")
        with servers.Server({}, port=10256):
            self.expect("ports", "fail", "port 10256 is held by a program that is no kube-proxy", "ss -ltnp")

    def test_kernel(self):
        self.expect("kernel", "ok", f"{KERNEL}, overlay, br_netfilter, ip_forward, no swap, host name gpu-1")
        self.machine.write("proc/swaps", "Filename\tType\n/dev/sda2 partition 1 0 -2\n")
        self.expect("kernel", "warn", "swap is on (/dev/sda2)", "swapoff -a")
        self.machine.write("proc/sys/net/ipv4/ip_forward", "0\n")
        self.expect("kernel", "fail", "ip_forward is 0; swap is on", "sysctl -w net.ipv4.ip_forward=1")

    def test_kernel_modules(self):
        self.machine.remove("sys/module/br_netfilter")
        self.machine.remove("proc/sys/net/bridge")
        self.expect("kernel", "warn", "has no br_netfilter", "CONFIG_BRIDGE_NETFILTER")
        self.machine.write(f"lib/modules/{KERNEL}/modules.dep", "kernel/net/bridge/br_netfilter.ko.xz: x\n")
        self.expect("kernel", "warn", "br_netfilter is not loaded", "modprobe br_netfilter")
        self.machine.write("proc/filesystems", "ext4\n")
        self.expect("kernel", "fail", "has no overlay", "CONFIG_OVERLAY_FS")
        self.machine.write(f"lib/modules/{KERNEL}/modules.builtin", "kernel/fs/overlayfs/overlay.ko\n")
        self.expect("kernel", "warn", "br_netfilter is not loaded", "modprobe br_netfilter")

    def test_host_name(self):
        self.machine.write("proc/sys/kernel/hostname", "GPU-1.Lab\n")
        self.expect("kernel", "ok", "host name gpu-1.lab")
        self.machine.write("proc/sys/kernel/hostname", "gpu_1\n")
        self.expect("kernel", "fail", 'the host name "gpu_1" is no DNS name', "hostnamectl")
        self.expect("kernel", "ok", "host name gpu-2", arguments=["--node-name", "gpu-2"])

    def test_kubelet(self):
        self.expect("kubelet", "ok", "not installed yet")
        self.machine.kubelet()
        self.expect("kubelet", "ok", "runs, takes device plugins, tells which pod has which GPU")
        self.machine.remove("var/lib/kubelet/pod-resources")
        self.expect("kubelet", "fail", "/var/lib/kubelet/pod-resources/kubelet.sock does not exist", "--kubelet-directory")
        self.machine.remove("proc/77")
        self.machine.remove("var/lib/kubelet/device-plugins")
        self.expect("kubelet", "warn", "does not run", "systemctl enable --now kubelet")
        self.expect("kubelet", "ok", "not installed yet", arguments=["--kubelet-directory", "/elsewhere"])


if __name__ == "__main__":
    unittest.main()
