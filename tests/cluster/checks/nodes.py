# SPDX-License-Identifier: Apache-2.0
"""GPUs, stopped kubelets, lost and cut nodes."""

from typing import Any, Callable

from tests.cluster.checks.running_cluster import RunningCluster
from tests.cluster.harness import processes
from tests.kit.checks import Checks


def ready(lab: RunningCluster, node: str, wanted: str) -> Callable[..., Any]:
    def condition() -> tuple[bool, str]:
        got = lab.node_ready(node)
        return got == wanted, f"Ready is {got}"
    return condition


def processes_of(lab: RunningCluster, node: str) -> list[int]:
    init = processes.find_init(processes.node_title(lab.name, node))
    space = init and processes.namespace(init)
    return [pid for pid in processes.all_pids() if space and processes.namespace(pid) == space]


def answers(lab: RunningCluster, pods: list[str]) -> Callable[..., Any]:
    def condition() -> tuple[bool, Any]:
        results = [lab.execute(pod, "true") for pod in pods]
        return all(code == 0 for code, _ in results), results
    return condition


def check(report: Checks, lab: RunningCluster, node: str) -> None:
    code, text = lab.cluster("gpus", node, "3")
    report.check("gpus: 3 are allocatable", code == 0 and lab.allocatable(node) == "3", text)

    lab.cluster("stop-node", node)
    report.eventually("a node without kubelet becomes not ready", ready(lab, node, "Unknown"))
    report.check("its pods run on", len(processes_of(lab, node)) > 2, processes_of(lab, node))
    code, text = lab.cluster("start-node", node)
    report.check("start-node: it is Ready with its GPUs",
                 code == 0 and lab.node_ready(node) == "True" and lab.allocatable(node) == "3", text)

    before = processes_of(lab, node)
    lab.cluster("stop-node", node, "--hard")
    alive = [pid for pid in before if processes.identity(pid)]
    report.check("stop-node --hard ends every process of the node at once", before and not alive, alive)
    report.eventually("and the node becomes not ready", ready(lab, node, "Unknown"))
    code, text = lab.cluster("start-node", node)
    report.check("start-node brings it back from nothing with its GPUs",
                 code == 0 and lab.node_ready(node) == "True" and lab.allocatable(node) == "3", text)
    report.eventually("and its pods run again", answers(lab, ["web-0", "web-1"]))

    lab.cluster("stop-node", node)
    lab.kubectl("delete", "node", node)
    code, text = lab.cluster("start-node", node)
    report.check("start-node registers a node that was deleted meanwhile",
                 code == 0 and lab.node_ready(node) == "True" and lab.allocatable(node) == "3", text)
    lab.kubectl("delete", "node", node)
    code, text = lab.cluster("start-node", node)
    report.check("also if its kubelet runs", code == 0 and lab.node_ready(node) == "True" and lab.allocatable(node) == "3",
                 text)

    lab.cluster("cut-node", node)
    report.eventually("a node that is cut off becomes not ready", ready(lab, node, "Unknown"))
    lab.cluster("join-node", node)
    report.eventually("and ready again once joined", ready(lab, node, "True"))
