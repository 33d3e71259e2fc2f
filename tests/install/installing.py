# SPDX-License-Identifier: Apache-2.0
"""The main path as it stands in the documents: install, a pool, a job; GPUs one by one; slices. And what is there then."""

import re
from typing import Any

from tests.deploy.pod_security import violations
from tests.deploy.test_chart import PLUGIN_NEEDS
from tests.install import document
from tests.install.site_under_test import SLICES, Site
from tests.kit.names import POOL_LABEL, SYSTEM_NAMESPACE

# As NVIDIA's is called; on no node, so it needs no image.
ANOTHER_PLUGIN = """
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: nvidia-device-plugin-daemonset, namespace: kube-system}
spec:
  selector: {matchLabels: {name: nvidia-device-plugin}}
  template:
    metadata: {labels: {name: nvidia-device-plugin}}
    spec:
      nodeSelector: {no: node}
      containers: [{name: plugin, image: "nvidia-device-plugin:1"}]
"""


def check(site: Site) -> None:
    report = site.report
    site.kubectl("apply", "-f", "-", text=ANOTHER_PLUGIN)
    done, notes = document.follow(site, "README.md", "### 2. Install")
    report.check("the documented way installs it", done, notes)
    report.check("the notes say what to do next", "kubectl apply" in notes and POOL_LABEL in notes, notes)
    report.check("the notes warn of another device plugin", "WARNING: DaemonSet nvidia-device-plugin-daemonset" in notes, notes)
    site.kubectl("delete", "-f", "-", text=ANOTHER_PLUGIN)
    done, output = document.follow(site, "README.md", "### 3. A pool")
    report.check("the documented pool is made", done, output)
    done, output = document.follow(site, "README.md", "### 4. A job")
    report.check("the documented job gets a GPU and completes",
                 done and re.search(r"^rank 0 of 1 has GPU GPU-\S+$", output, re.M), output)
    done, output = document.follow(site, "docs/vgpu.md", "### Rent GPUs one by one")
    report.check("jobs rent one GPU and two of one node",
                 done and re.search(r"^GPU GPU-[^,\s]+$", output, re.M)
                 and re.search(r"^GPUs GPU-[^,\s]+,GPU-[^,\s]+$", output, re.M), output)
    done, output = document.follow(site, "docs/install.md", "## Slices")
    report.check("the documented slices are cut, and a job gets two",
                 done and re.search(r"^CUDA_DEVICE_SM_LIMIT=20$", output, re.M), output)
    site.values += SLICES
    site.kubectl("delete", "gpujobs", "--all", "-n", "default")
    site.kubectl("delete", "gpupools", "lab", "by-gpu")
    site.kubectl("label", "nodes", "na", "nb", "nc", "--overwrite", f"{POOL_LABEL}=demo")
    report.eventually("two operators become ready", lambda: site.ready("operator", 2))
    report.eventually("a device plugin becomes ready on every node of a pool", lambda: site.ready("device-plugin", 4))
    report.eventually("one operator leads", lambda: (site.leader(), ""))
    nodes = {pod["spec"]["nodeName"] for pod in site.pods("operator")}
    report.check("the operators are on two nodes", len(nodes) == 2, nodes)
    for pod in site.pods("operator"):
        report.check(f"{pod['metadata']['name']} is restricted, as it runs", not violations(pod["spec"]),
                     violations(pod["spec"]))
    found = set(violations(site.pods("device-plugin")[0]["spec"]))
    report.check("the device plugin breaks only what it must", found == PLUGIN_NEEDS, found ^ PLUGIN_NEEDS)
    report.eventually("nodes offer what the plugin was told to", lambda: _offered(site))
    report.eventually("every plugin reports its node", lambda: (
        {item["metadata"]["name"] for item in site.api.list("gpunodes")} == {"na", "nb", "nc", "nd"}, ""))
    restarts = [c["restartCount"] for part in ("operator", "device-plugin") for pod in site.pods(part)
                for c in pod["status"]["containerStatuses"]]
    report.check("nothing was restarted on the way", not any(restarts), site.kubectl("-n", SYSTEM_NAMESPACE, "get", "pods"))


def _offered(site: Site) -> tuple[bool, Any]:
    allocatable = {node["metadata"]["name"]: node["status"]["allocatable"] for node in site.api.list("nodes")}
    found = [allocatable[name].get("nvidia.com/gpu") for name in ("na", "nb", "nc")]
    found.append(allocatable["nd"].get("gpupool.dev/vgpu"))
    return found == ["1", "1", "3", "30"], found
