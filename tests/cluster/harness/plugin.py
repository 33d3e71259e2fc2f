# SPDX-License-Identifier: Apache-2.0
"""The device plugin on all nodes, as deploy/ says, with the fake NVML for its driver."""

import hashlib
import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Iterable

import yaml

from tests.cluster.harness import definitions, gpus, image_store, processes
from tests.cluster.harness.api import Api
from tests.cluster.harness.errors import ClusterError
from tests.cluster.harness.node import Node
from tests.cluster.harness.state import State
from tests.kit.api import Object
from tests.kit.names import SYSTEM_NAMESPACE
from tests.kit.paths import CRDS, MANIFESTS, build_folder, program

NAME, IMAGE = "gpupool-device-plugin", "gpupool.dev/device-plugin:dev"
COMPONENT = "app.kubernetes.io/component"


class Programs:
    """What was built: the plugin and the fakes of the driver's libraries, from $BUILD_DIR (build)."""

    def __init__(self) -> None:
        self.plugin = program("gpupool-device-plugin")
        lib = build_folder() / "lib"
        self.libraries = [str(lib / "libnvidia-ml.so.1"), str(lib / "fake-cuda" / "libcuda.so.1")]
        for path in (self.plugin, *self.libraries):
            if not os.path.isfile(path):
                raise ClusterError(f"simulated GPUs need {path}: build it first or set BUILD_DIR")

    def image(self) -> str:
        return image_store.archives(["device-plugin"])[0]


def load(nodes: list[Node], programs: Programs) -> None:
    """The image, on nodes whose containerd runs."""
    archive = programs.image()
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda node: node.load(archive), nodes))


def install(state: State) -> None:
    """Definitions, rights and the DaemonSet; again it changes what is different. Nodes with deviceSplitCount above 1 offer
    slices, all others whole GPUs; those of --enforce hold containers to the memory of their slices."""
    definitions.create(state.facts()["kubectl"], state.path("kubeconfig"), CRDS)
    kubectl(state, "api-resources", "--api-group=gpupool.dev")  # lets kubectl forget that it did not know them
    if state.facts()["kubelet_minor"] >= 30:  # the first with admission policies and tokens that name a node
        kubectl(state, "apply", "-f", os.path.join(MANIFESTS, "admission.yaml"))
    enforcing = state.facts().get("enforce", [])
    objects = _manifests(bool(enforcing))
    config = configuration(state.facts().get("splits", {}), enforcing)
    for item in objects:
        if item["kind"] == "ConfigMap":
            item["data"] = {"config.yaml": config}
        elif item["kind"] == "DaemonSet":
            adapt(item, config)
    kubectl(state, "apply", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    state.remember(plugin=True)


def configuration(splits: dict[str, int], enforcing: Iterable[str] = ()) -> str:
    overrides: list[Any] = [{"match": {"node": node}, "deviceSplitCount": count} for node, count in sorted(splits.items())]
    # What a program uses beyond its slice is noticed, and its worker is ended.
    overrides += [{"match": {"node": node}, "enforce": "library", "audit": {"onExcess": "end"}} for node in enforcing]
    return json.dumps({"version": "v1", "deviceSplitCount": 1, "overrides": overrides}, indent=1)


def adapt(daemon_set: Object, config: str) -> None:
    """To a cluster without pools, whose driver is a fake; and a changed configuration is taken up at once, by new pods,
    instead of when the kubelet next looks at ConfigMaps."""
    spec = daemon_set["spec"]
    spec["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = "100%"
    template = spec["template"]
    template["metadata"]["annotations"] = {"configuration": hashlib.sha256(config.encode()).hexdigest()}
    del template["spec"]["affinity"]
    for container in (*template["spec"].get("initContainers", []), *template["spec"]["containers"]):
        container["image"] = IMAGE
    template["spec"]["containers"][0]["env"].append({"name": "GPUPOOL_FAKE_NVML", "value": "/driver/" + gpus.CONTROL})


def wait_rolled_out(api: Api) -> None:
    def done() -> bool:
        found = api.get(f"/apis/apps/v1/namespaces/{SYSTEM_NAMESPACE}/daemonsets/{NAME}")
        status, wanted = found["status"], found["status"].get("desiredNumberScheduled", 0)
        return (status.get("observedGeneration") == found["metadata"]["generation"] and wanted > 0
                and wanted == status.get("updatedNumberScheduled") == status.get("numberAvailable", 0))
    processes.wait_for("the device plugin to run on all nodes", done, 90, 0.1)


def set_up(state: State, api: Api, programs: Programs) -> None:
    """On a cluster that runs: the plugin on all nodes, and GPUs on those that are to have some."""
    if not state.facts().get("plugin"):
        load([Node(state, name) for name in state.facts()["nodes"]], programs)
    install(state)
    for node in state.facts().get("gpus", {}):
        gpus.wait_allocatable(state, api, node)


def describe(state: State) -> str:
    """For a person who wonders why it does not work."""
    pods = ["-n", SYSTEM_NAMESPACE, "-l", COMPONENT + "=device-plugin"]
    try:
        return (kubectl(state, "get", "pods", "-o", "wide", *pods)
                + kubectl(state, "logs", "--tail=8", "--prefix", *pods))
    except ClusterError as error:
        return str(error)


def kubectl(state: State, *arguments: str, text: str | None = None) -> str:
    done = subprocess.run([state.facts()["kubectl"], "--kubeconfig", state.path("kubeconfig"), *arguments], input=text,
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        raise ClusterError(f"kubectl {' '.join(arguments[:2])}: {done.stderr.strip()}")
    return done.stdout


def _manifests(enforce: bool) -> list[Any]:
    """What install.yaml says of the device plugin, and the namespace it is in; enforcement.yaml replaces the DaemonSet."""
    objects: dict[tuple[str, str], Any] = {}
    for name in ("install.yaml", *(["enforcement.yaml"] if enforce else [])):
        with open(os.path.join(MANIFESTS, name), encoding="utf-8") as source:
            objects.update({(item["kind"], item["metadata"]["name"]): item for item in yaml.safe_load_all(source) if item})
    return [item for item in objects.values() if item["kind"] == "Namespace"
            or item["metadata"].get("labels", {}).get(COMPONENT) == "device-plugin"]
