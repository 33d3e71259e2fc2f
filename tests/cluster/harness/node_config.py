# SPDX-License-Identifier: Apache-2.0
"""Configuration files of one node, as seen inside its own file system."""

import json

SOCKET = "/run/containerd/containerd.sock"


def containerd() -> str:
    return f"""version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs",
  "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs", "io.containerd.internal.v1.opt"]
[grpc]
  address = "{SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "gpupool.dev/pause:1"
  restrict_oom_score_adj = true
  disable_apparmor = true # a loaded profile would stay in the machine's kernel
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/var/lib/cni/conf"
"""


def cni(pods: str) -> str:
    return json.dumps({
        "cniVersion": "0.4.0", "name": "pods",
        "plugins": [
            {"type": "bridge", "bridge": "pods", "isGateway": True, "ipMasq": False,
             "ipam": {"type": "host-local", "ranges": [[{"subnet": pods}]], "routes": [{"dst": "0.0.0.0/0"}]}},
            {"type": "loopback"}]})


def kubelet(minor: int, cgroup_root: str, dns: str, grace_seconds: int) -> str:
    config = {
        "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
        "authentication": {"anonymous": {"enabled": False}, "webhook": {"enabled": False},
                           "x509": {"clientCAFile": "/var/lib/kubelet/ca.crt"}},
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs", "cgroupRoot": cgroup_root, "failSwapOn": False,
        "clusterDomain": "cluster.local", "clusterDNS": [dns], "resolvConf": "/var/lib/kubelet/resolv.conf",
        "evictionHard": {"memory.available": "50Mi", "nodefs.available": "1%", "imagefs.available": "1%"},
        "volumePluginDir": "/var/lib/kubelet/volume-plugins",
        # Unpacked images are mounts that cannot be deleted, and nothing could be pulled again.
        "imageGCHighThresholdPercent": 100, "imageGCLowThresholdPercent": 99,
        "makeIPTablesUtilChains": False, "serializeImagePulls": False, "registryPullQPS": 0, "eventRecordQPS": 0,
        "kubeAPIQPS": 50, "kubeAPIBurst": 100,
        # Small, so that a test can have a log rotated.
        "containerLogMaxSize": "1Mi",
        # Changes are told within a second, but an unchanged Node object is left alone, as with the defaults.
        "nodeStatusUpdateFrequency": "1s", "nodeStatusReportFrequency": "5m",
        # Renewed every quarter of it: several renewals fit into the grace period.
        "nodeLeaseDurationSeconds": max(4, grace_seconds * 3 // 4),
    }
    if minor >= 27:
        config.update(containerRuntimeEndpoint=f"unix://{SOCKET}", failCgroupV1=False, enforceNodeAllocatable=[])
    return json.dumps(config, indent=1)


def kubelet_flags(minor: int) -> list[str]:
    """Flags for what the configuration file cannot say in that version."""
    if minor >= 27:
        return []
    return ["--container-runtime=remote", f"--container-runtime-endpoint=unix://{SOCKET}",
            "--enforce-node-allocatable="]
