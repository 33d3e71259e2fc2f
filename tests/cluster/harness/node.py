# SPDX-License-Identifier: Apache-2.0
"""Starts and stops the nodes of a cluster: containerd and kubelet in namespaces that end together."""

import os
import shutil
import subprocess

from tests.cluster.harness import (certificates, cgroups, image_store, inotify, kubeconfig, network, node_config,
                                   processes)
from tests.cluster.harness.api import Api
from tests.cluster.harness.errors import ClusterError
from tests.cluster.harness.state import State

NODE_ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node-root")


class Node:
    """One node of a cluster that has `facts` already. `index` fixes its addresses."""

    def __init__(self, state: State, name: str) -> None:
        self.state, self.name = state, name
        facts = state.facts()
        if name not in facts.get("nodes", []):
            raise ClusterError(f"cluster {state.name} has no node {name}: {', '.join(facts.get('nodes', []))}")
        self.facts, self.index = facts, facts["nodes"].index(name)
        self.addresses = network.Addresses(facts["slot"])
        self.folder = state.path("nodes", name)

    def init(self) -> int | None:
        return processes.find_init(processes.node_title(self.state.name, self.name))

    def running_init(self) -> int:
        """The same of a node that must run."""
        init = self.init()
        if init is None:
            raise ClusterError(f"node {self.name} of cluster {self.state.name} does not run")
        return init

    def log(self, program: str) -> str:
        return self.state.path("log", f"{program}-{self.name}")

    def hub(self) -> int:
        hub = processes.find_init(processes.cluster_title(self.state.name))
        if hub is None:
            raise ClusterError(f"cluster {self.state.name} does not run")
        return hub

    def write_files(self) -> None:
        """Everything that outlives a restart of the node."""
        for part in ("root", "tmp", "var/log", "var/lib/kubelet", "var/lib/containerd", "var/lib/cni/conf",
                     "containerd/upper", "containerd/work", "containerd/snapshots"):
            os.makedirs(os.path.join(self.folder, part), exist_ok=True)
        os.chmod(os.path.join(self.folder, "tmp"), 0o1777)
        os.symlink("/run", os.path.join(self.folder, "var/run"))
        os.symlink("/tmp", os.path.join(self.folder, "var/tmp"))
        pki = self.state.path("pki")
        certificates.sign(pki, f"node-{self.name}", f"/O=system:nodes/CN=system:node:{self.name}")
        self._write("var/lib/containerd.toml", node_config.containerd())
        self._write("var/lib/cni/conf/10-pods.conflist", node_config.cni(self.addresses.pods(self.index)))
        self._write("var/lib/kubelet/resolv.conf", f"nameserver {self.addresses.hub}\n")
        self._write("var/lib/kubelet/config.json", node_config.kubelet(
            self.facts["kubelet_minor"], cgroups.group(self.state.name, self.name), self.addresses.hub, self.facts["grace"]))
        self._write("var/lib/kubelet/kubeconfig", kubeconfig.render(
            self.state.name, self.facts["server"], f"{pki}/ca.crt",
            kubeconfig.certificate_user(pki, f"node-{self.name}")))
        shutil.copy(f"{pki}/ca.crt", os.path.join(self.folder, "var/lib/kubelet/ca.crt"))

    def _write(self, path: str, text: str) -> None:
        with open(os.path.join(self.folder, path), "w", encoding="utf-8") as out:
            out.write(text)

    def start_namespaces(self) -> None:
        cgroups.create(self.state.name, self.name)
        started = os.path.join(self.folder, "tmp", ".started")
        if os.path.exists(started):
            os.unlink(started)
        title = processes.node_title(self.state.name, self.name)
        processes.start_inside(
            self.hub(), self.log("node"), "unshare", "--pid", "--fork", "--kill-child=KILL", "--net", "--uts",
            "--mount", "--propagation", "unchanged", NODE_ROOT, title, self.folder, self.facts["kubelet"],
            self.facts["images"])
        try:
            processes.wait_for(f"node {self.name}", lambda: os.path.exists(started) and self.init(), 60)
        except ClusterError as error:
            raise ClusterError(f"{error}\n{processes.log_tail(self.log('node'))}") from None
        network.attach_node(self.addresses, self.index, self.hub(), self.running_init())

    def start_containerd(self) -> None:
        processes.start_inside(self.running_init(), self.log("containerd"), "containerd", "-c", "/var/lib/containerd.toml")

    def wait_containerd(self) -> None:
        init = self.running_init()
        try:
            processes.wait_for(f"containerd on node {self.name}", lambda: subprocess.run(
                processes.inside(init, "ctr", "version"), capture_output=True, check=False).returncode == 0, 90, 0.1)
        except ClusterError as error:
            raise ClusterError(f"{error}\n{processes.log_tail(self.log('containerd'))}") from None

    def kubelet_runs(self) -> bool:
        init = self.init()
        return init is not None and bool(processes.pids_of(init, "kubelet"))

    def start_kubelet(self) -> None:
        """Does nothing if it runs."""
        if self.kubelet_runs():
            return
        processes.start_inside(
            self.running_init(), self.log("kubelet"), "/opt/gpupool/kubelet", "--config=/var/lib/kubelet/config.json",
            "--kubeconfig=/var/lib/kubelet/kubeconfig", f"--hostname-override={self.name}",
            f"--node-ip={self.addresses.node(self.index)}", "--cert-dir=/var/lib/kubelet/pki",
            *node_config.kubelet_flags(self.facts["kubelet_minor"]),
            # Old kubelets ask Amazon for registry passwords, and wait seconds for no answer.
            environment={"AWS_EC2_METADATA_DISABLED": "true"})

    def is_registered(self, api: Api) -> bool:
        return api.find(f"/api/v1/nodes/{self.name}") is not None

    def is_ready(self, api: Api) -> bool:
        try:
            found = api.find(f"/api/v1/nodes/{self.name}")
        except ClusterError:
            return False  # the API server is starting
        conditions = found["status"].get("conditions", []) if found else []
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def wait_ready(self, api: Api) -> None:
        try:
            processes.wait_for(f"node {self.name} to be Ready", lambda: self.is_ready(api), 120, 0.2)
        except ClusterError as error:
            raise ClusterError(f"{error}\n{processes.log_tail(self.log('kubelet'))}"
                               f"{inotify.complaints(self.log('kubelet'))}") from None

    def load(self, archive: str) -> None:
        image_store.import_archive(self.running_init(), archive)

    def stop(self, hard: bool) -> None:
        """Ends the kubelet; `hard` ends the whole node at once, its pods too, as a power cut would."""
        init = self.init()
        if init is None:
            return
        if hard:
            processes.kill_and_wait(init)
            return
        for pid in processes.pids_of(init, "kubelet"):
            processes.kill_and_wait(pid)

    def start(self, api: Api) -> None:
        """Brings back what `stop` ended. A kubelet registers its node only when it starts, so one whose Node object was
        deleted meanwhile is started anew."""
        if self.kubelet_runs() and not self.is_registered(api):
            self.stop(hard=False)
        if self.init() is None:
            self.start_namespaces()
            self.start_containerd()
            self.wait_containerd()
        self.start_kubelet()
