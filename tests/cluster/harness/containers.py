# SPDX-License-Identifier: Apache-2.0
"""Makes a kubelet forget how a container ended, as after a runtime whose dead containers were removed."""

import contextlib
import os
import signal
from typing import Any, Iterator

from tests.cluster.harness import processes
from tests.cluster.harness.errors import ClusterError
from tests.cluster.harness.node import Node
from tests.cluster.harness.node_config import SOCKET

END = "/dev/shm/end"  # each container has that folder
CRI = "http://localhost/runtime.v1.RuntimeService/RemoveContainer"


def forget_end(node: Node, pod: Any, limit: float = 60) -> None:
    """Removes the pod's running container once it has ended, before the kubelet has seen that. The container ends when it
    sees the file END, which is made when the kubelet does not look any more."""
    init = node.running_init()
    name = _running(init, pod)
    with _paused(processes.pids_of(init, "kubelet")):
        processes.run_inside(init, "touch", f"/proc/{_pid(init, name)}/root{END}")
        processes.wait_for(f"the container of pod {pod} to end", lambda: name not in _tasks(init), limit)
        processes.wait_for(f"the container of pod {pod} to be removed", lambda: _remove(init, name), 10)


def _ctr(init: int, *arguments: str) -> list[str]:
    return processes.run_inside(init, "ctr", "--namespace", "k8s.io", *arguments).split()


def _tasks(init: int) -> Any:
    return _ctr(init, "tasks", "list", "--quiet")


def _pid(init: int, name: str) -> str:
    """In the node's namespace."""
    words = _ctr(init, "tasks", "list")
    return words[words.index(name) + 1]


def _running(init: int, pod: Any) -> Any:
    of_pod = _ctr(init, "containers", "list", "--quiet",
                  f'labels."io.kubernetes.pod.name"=={pod},labels."io.cri-containerd.kind"==container')
    found = set(of_pod).intersection(_tasks(init))
    if len(found) != 1:
        raise ClusterError(f"pod {pod} has {len(found)} running containers on this node")
    return found.pop()


@contextlib.contextmanager
def _paused(pids: list[int]) -> Iterator[Any]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def _remove(init: int, name: str) -> bool:
    """Through CRI, which has a memory of its own. False while CRI takes it for running."""
    message = f"\x0a{chr(len(name))}{name}"  # RemoveContainerRequest: field 1, container_id
    frame = f"\x00\x00\x00\x00{chr(len(message))}{message}"  # of gRPC: not compressed, 4 bytes of length
    answer = processes.run_inside(
        init, "curl", "--silent", "--show-error", "--http2-prior-knowledge", "--unix-socket", SOCKET, "--header",
        "content-type: application/grpc", "--header", "te: trailers", "--data-binary", "@-", "--dump-header", "-",
        "--output", "/dev/null", CRI, input=frame)
    return "grpc-status: 0" in answer
