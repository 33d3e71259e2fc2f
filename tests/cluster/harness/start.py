# SPDX-License-Identifier: Apache-2.0
"""Brings a cluster up, from nothing to Ready nodes."""

import contextlib
import fcntl
import os
import subprocess
import sys
from typing import Any, Iterator
from argparse import Namespace

from tests.cluster.harness import (certificates, control_plane, definitions, dns, gpus, image_store, inotify, interrupts, network,
                                   plugin, processes, teardown)
from tests.cluster.harness.api import Api
from tests.cluster.harness.binaries import Binaries, minor_version
from tests.cluster.harness.errors import ClusterError
from tests.cluster.harness.image_store import Store
from tests.cluster.harness.node import Node
from tests.cluster.harness.plugin import Programs
from tests.cluster.harness.progress import Progress
from tests.cluster.harness.state import State, root

KEEPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "keeper.py")
GRACE_SECONDS, GRACE_SECONDS_WITHOUT_KUBELETS = 16, 300
CONTROL_PLANE = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"]


def up(state: State, options: Namespace) -> None:
    """Starts the cluster; whatever goes wrong, also Ctrl-C, nothing of it is left."""
    if os.geteuid() != 0:
        raise ClusterError("a cluster needs root: namespaces, mounts and cgroups")
    programs = Binaries(CONTROL_PLANE + ([] if options.control_plane_only else ["kubelet"]))
    images, plugged = image_store.NONE, None
    if not options.control_plane_only:
        if options.gpus:
            plugged = plugin.Programs()
            if not options.no_plugin:
                plugged.image()  # now: it may take a moment
        images = image_store.prepare(image_store.archives(["pause", "busybox", *options.image]))
    if processes.find_init(processes.cluster_title(state.name)):
        raise ClusterError(f"cluster {state.name} runs already")
    progress = Progress(state.name)
    with _turn(progress):
        state.create()
        try:
            check_file_system(state)
            state.remember(starter=processes.identity(os.getpid()))
            _start(state, options, programs, images, plugged, progress)
            interrupts.check()
            state.remember(ready=True)
        except BaseException:
            progress.step("failed; removing it")
            teardown.down(state)
            raise


@contextlib.contextmanager
def _turn(progress: Progress) -> Iterator[None]:
    """Clusters start one after the other: a start takes all processors for a while, and four at once took ten times as long
    on two of them. The lock goes with this process."""
    os.makedirs(root(), exist_ok=True)
    with open(os.path.join(root(), ".gpupool-cluster-start.lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.step("waiting: another cluster is starting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def check_file_system(state: State) -> None:
    kind = subprocess.run(["stat", "-f", "-c", "%T", state.folder], capture_output=True, text=True, check=True)
    if kind.stdout.strip() == "overlayfs":
        raise ClusterError(f"{state.folder} is on an overlay, on which containers cannot be unpacked: "
                           "set GPUPOOL_CLUSTERS to a folder on a disk or tmpfs")


def _start(state: State, options: Namespace, programs: Binaries, images: Store, plugged: Programs | None,
           progress: Progress) -> None:
    nodes = [] if options.control_plane_only else options.nodes.split(",")
    counts = gpus.parse(options.gpus, nodes, "--gpus") if plugged else {}
    minor = minor_version(programs.paths["kube-apiserver"])
    # Without kubelets only the tests decide which nodes are ready, however slow the machine is.
    grace = options.node_monitor_grace_period or (GRACE_SECONDS if nodes else GRACE_SECONDS_WITHOUT_KUBELETS)
    state.remember(nodes=nodes, grace=grace, images=images.folder,
                   kubectl=programs.paths["kubectl"], splits=gpus.parse(options.split, nodes, "--split"),
                   enforce=[node for node in nodes if node in (options.enforce or "").split(",")])
    if nodes:
        kubelet = programs.paths["kubelet"]
        state.remember(kubelet=kubelet, kubelet_minor=minor_version(kubelet))
        inotify.ensure(len(nodes), progress.step)
    init = _start_keeper(state, options.owner_pid, images)
    state.remember(namespace=processes.namespace(init))
    addresses = network.claim(state.name, init)
    server = f"https://{addresses.hub}:443"
    state.remember(slot=addresses.slot, hub=addresses.hub, server=server)
    network.build_hub(addresses, init)
    control_plane.start_etcd(state, init, programs.paths["etcd"], options.etcd_quota)
    certificates.create_all(state, addresses)
    tokens, tokens_path = control_plane.write_tokens(state)
    control_plane.start_apiserver(state, init, programs.paths["kube-apiserver"], addresses, minor, tokens_path,
                                  options.audit)
    control_plane.write_kubeconfigs(state, addresses, tokens)
    started = [Node(state, name) for name in nodes]
    for node in started:
        node.write_files()
        if plugged:
            gpus.place(state, node.name, plugged.libraries, counts.get(node.name, 0))
        node.start_namespaces()
        node.start_containerd()
    if nodes and state.facts()["kubelet_minor"] < 24:
        # These kubelets look for Docker for 5 s before they ask for the API server: let that pass meanwhile.
        _start_kubelets(started)
    api = Api(state)
    control_plane.wait_ready(state, api)
    progress.step(f"API server v1.{minor} is ready at {server}")
    if options.definitions:
        definitions.create(programs.paths["kubectl"], state.path("kubeconfig"), options.definitions)
    control_plane.start_controller_manager(state, init, programs.paths["kube-controller-manager"], minor, grace)
    if nodes or options.scheduler:
        control_plane.start_scheduler(state, init, programs.paths["kube-scheduler"])
    if nodes:
        dns.start(state, init, addresses)
        _start_kubelets(started)
        _wait_nodes(started, api, progress)
    _wait_default_account(api)
    if plugged and not options.no_plugin:
        _add_gpus(state, api, plugged, progress)
    progress.step("ready")


def _start_keeper(state: State, owner: int | None, images: Store) -> Any:
    """The keeper must outlive this process, a Ctrl-C in its terminal, and everything but the owner.

    It inherits the lock on the images, which so lasts as long as the cluster."""
    with open(state.path("log", "keeper"), "ab") as log:
        subprocess.Popen(
            ["bash", "-c", 'exec -a "$0" "$@"', processes.keeper_title(state.name), sys.executable, KEEPER, state.name,
             str(os.getpid()), str(owner or 0)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd="/",
            pass_fds=[images.lock] if images.lock is not None else [],
            env={**os.environ, "GPUPOOL_CLUSTERS": os.path.dirname(state.folder)})
    return processes.wait_for("the keeper", lambda: processes.find_init(processes.cluster_title(state.name)), 60, 0.02)


def _start_kubelets(nodes: list[Node]) -> None:
    for node in nodes:
        node.wait_containerd()
        node.start_kubelet()


def _wait_nodes(nodes: list[Node], api: Api, progress: Progress) -> None:
    for node in nodes:
        node.wait_ready(api)
        progress.step(f"node {node.name} is Ready")


def _add_gpus(state: State, api: Api, plugged: Programs, progress: Progress) -> None:
    try:
        plugin.set_up(state, api, plugged)
    except ClusterError as error:
        raise ClusterError(f"{error}\n{plugin.describe(state)}") from None
    progress.step("simulated GPUs are allocatable through the device plugin")


def _wait_default_account(api: Api) -> None:
    """Pods are refused until their namespace has its service account, and on old servers its token."""
    def there() -> bool:
        try:
            account = api.get("/api/v1/namespaces/default/serviceaccounts/default")
        except ClusterError:
            return False
        minor = int("".join(filter(str.isdigit, api.get("/version")["minor"])))
        return minor >= 24 or bool(account.get("secrets"))
    processes.wait_for("the default service account", there, 90)
