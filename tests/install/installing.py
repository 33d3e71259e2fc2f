"""docs/install.md as it stands there, and what is there then."""

import document
from pod_security import violations
from site_under_test import NAMESPACE, POOL_LABEL
from test_chart import PLUGIN_NEEDS


def check(site):
    report = site.report
    done, notes = document.follow(site, "docs/install.md", "## Install")
    report.check("the documented way installs it", done, notes)
    report.check("the notes say what to do next", "kubectl apply" in notes and POOL_LABEL in notes, notes)
    done, output = document.follow(site, "docs/install.md", "## A first pool and a first job",
                                   **{"gpu-1": "nd", "docker.io/library/busybox:1.36": "gpupool.dev/busybox:1"})
    report.check("the documented pool becomes ready, and the job completes", done, output)
    site.kubectl("label", "nodes", "na", "nb", "nc", f"{POOL_LABEL}=demo")
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
    report.check("nothing was restarted on the way", not any(restarts), site.kubectl("-n", NAMESPACE, "get", "pods"))


def _offered(site):
    allocatable = {node["metadata"]["name"]: node["status"]["allocatable"] for node in site.api.list("nodes")}
    found = [allocatable[name].get("nvidia.com/gpu") for name in ("na", "nb", "nc")]
    found.append(allocatable["nd"].get("gpupool.dev/vgpu"))
    return found == ["1", "1", "1", "30"], found
