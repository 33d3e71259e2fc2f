# SPDX-License-Identifier: Apache-2.0
"""Pods, network, DNS and credentials of a running cluster."""

from typing import Any, Callable

from tests.cluster.checks.running_cluster import RunningCluster, headless_service, pods_on_each_node, python_pod
from tests.kit.checks import Checks

IN_CLUSTER_CALL = """
import ssl, urllib.request, torch
base = "/var/run/secrets/kubernetes.io/serviceaccount/"
request = urllib.request.Request("https://kubernetes.default.svc/api/v1/namespaces/default/pods",
                                 headers={"Authorization": "Bearer " + open(base + "token").read()})
context = ssl.create_default_context(cafile=base + "ca.crt")
answer = urllib.request.urlopen(request, context=context, timeout=20)
print("answer", answer.status, "torch", torch.ones(3).sum().item())
"""


def running(lab: RunningCluster, count: int) -> Callable[..., Any]:
    def condition() -> tuple[bool, str]:
        pods = lab.get("pods", "-l", "app=web").get("items", [])
        up = [p["metadata"]["name"] for p in pods if p["status"].get("phase") == "Running"]
        return len(up) == count, f"running: {up}\n{lab.kubectl('get', 'pods', '-o', 'wide')[1]}"
    return condition


def fetch(lab: RunningCluster, pod: Any, url: str, wanted: str) -> Callable[..., Any]:
    def condition() -> tuple[bool, str]:
        code, text = lab.execute(pod, "wget", "-q", "-O", "-", url)
        return code == 0 and text.strip() == wanted, f"exit {code}: {text}"
    return condition


def check(report: Checks, lab: RunningCluster, nodes: list[str]) -> None:
    lab.apply(headless_service("web"), pods_on_each_node("web", len(nodes)))
    report.eventually("pods that are never ready run, one on each node", running(lab, len(nodes)))
    hosts = {p["spec"].get("nodeName") for p in lab.get("pods", "-l", "app=web").get("items", [])}
    report.check("they are on different nodes", hosts == set(nodes), hosts)
    report.eventually("a not-ready pod is found by its name and answers TCP across nodes",
                      fetch(lab, "web-0", "http://web-1.web/", "web-1"))
    report.eventually("by its full name too",
                      fetch(lab, "web-1", "http://web-0.web.default.svc.cluster.local/", "web-0"))
    code, text = lab.execute("web-0", "ping", "-c", "1", "-W", "5", "web-1.web")
    report.check("ping across nodes", code == 0, text)
    code, text = lab.execute("web-0", "nslookup", "-type=a", "web.default.svc.cluster.local")
    addresses = {p["status"].get("podIP") for p in lab.get("pods", "-l", "app=web").get("items", [])}
    report.check("the Service's name has every pod's address", all(a in text for a in addresses), text)
    code, text = lab.execute("web-0", "nslookup", "-type=a", "absent.default.svc.cluster.local")
    report.check("an unknown name is NXDOMAIN", code != 0 and "NXDOMAIN" in text, text)
    code, text = lab.kubectl("logs", "web-1")
    report.check("kubectl logs", text.strip() == "started", text)
    check_dns_follows(report, lab)
    check_service_account(report, lab)


def check_dns_follows(report: Checks, lab: RunningCluster) -> None:
    lab.kubectl("scale", "statefulset", "web", "--replicas=1")

    def forgotten() -> tuple[bool, Any]:
        _, text = lab.execute("web-0", "nslookup", "-type=a", "web-1.web.default.svc.cluster.local")
        return "NXDOMAIN" in text, text
    report.eventually("the name of a deleted pod goes", forgotten)
    lab.kubectl("scale", "statefulset", "web", "--replicas=2")
    report.eventually("and comes back with the pod", fetch(lab, "web-0", "http://web-1.web/", "web-1"))


def check_service_account(report: Checks, lab: RunningCluster) -> None:
    def logged(pod: Any, wanted: str) -> Callable[..., Any]:
        def condition() -> tuple[bool, str]:
            phase = lab.get("pod", pod).get("status", {}).get("phase")
            text = lab.kubectl("logs", pod)[1]
            return phase in ("Succeeded", "Failed") and wanted in text, f"{phase}: {text}"
        return condition

    lab.apply(python_pod("denied", IN_CLUSTER_CALL))
    report.eventually("a pod's service account is known to the API server and has no rights",
                      logged("denied", "HTTP Error 403"))
    lab.kubectl("create", "rolebinding", "readers", "--clusterrole=view", "--serviceaccount=default:default")
    lab.apply(python_pod("allowed", IN_CLUSTER_CALL))
    report.eventually("with a role it reads pods from inside, and PyTorch computes",
                      logged("allowed", "answer 200 torch 3.0"))


def check_identities(report: Checks, lab: RunningCluster, nodes: list[str]) -> None:
    code, text = lab.kubectl("get", "nodes", user="kubeconfig-certificate")
    report.check("the client certificate is an administrator", code == 0, text)
    code, text = lab.kubectl("get", "nodes", user="kubeconfig-viewer")
    report.check("a user without rights is refused", code != 0 and "forbidden" in text.lower(), text)
    own = f"nodes/{nodes[0]}/var/lib/kubelet/kubeconfig"
    code, text = lab.kubectl("label", "node", nodes[1], "stolen=yes", user=own)
    report.check("a kubelet cannot change another node", code != 0 and "forbidden" in text.lower(), text)
    code, text = lab.kubectl("label", "node", nodes[0], "own=yes", user=own)
    report.check("but its own", code == 0, text)
    with open(f"{lab.folder}/audit.log", encoding="utf-8") as log:
        writes = [line for line in log if '"verb":"create"' in line and '"resource":"statefulsets"' in line]
    report.check("the audit log has exactly the one created StatefulSet", len(writes) == 1, writes)
