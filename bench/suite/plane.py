# SPDX-License-Identifier: Apache-2.0
"""A control plane, and nodes without machines."""

import collections
import concurrent.futures
import itertools
import os
import re
import sys
import time
import urllib.error
import urllib.request
from typing import Any, Callable, Iterable

from bench.suite.audit import Audit
from bench.suite.programs import Service, cpu_seconds, within
from tests.cluster.harness import processes, servers
from tests.cluster.harness.state import State
from tests.kit.api import Api
from tests.kit.cluster import Cluster
from tests.kit.kubectl import apply_definitions
from tests.kit.manifests import pool_manifest
from tests.kit.names import LAUNCHER_IMAGE, POOL_LABEL
from tests.kit.played.nodes import ready_status

POOL = "bench"
PATIENCE = 1  # seconds that a node may be away
_namespaces = itertools.count(1)


def _is_settled(node: dict[str, Any]) -> bool:
    """The API server taints a new node, and the node controller takes that off. The TTL controller adds its annotation."""
    tainted = any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", []))
    return not tainted and "node.alpha.kubernetes.io/ttl" in node["metadata"].get("annotations", {})


class Plane:
    """A context manager. Nodes stay Ready without heartbeats: the node controller's grace period is a day."""

    def __init__(self, tiny: bool = False) -> None:
        self._tiny = tiny
        self._untouched = 1 if tiny else 7  # seconds: more than the controller manager's between two looks at nodes
        self._cluster = Cluster(f"bench-{os.getpid()}", "--control-plane-only", "--audit", "--etcd-quota", "8192",
                                "--node-monitor-grace-period", "86400")
        self.pools = {}  # name -> nodes
        self.in_use = set()  # pools whose nodes may be leased when an operator starts

    @property
    def nodes(self) -> int:
        return self.pools.get(POOL, 0)

    def __enter__(self) -> "Plane":
        self._cluster.__enter__()
        try:
            self._set_up()
        except BaseException:
            self._cluster.__exit__(*sys.exc_info())
            raise
        return self

    def _set_up(self) -> None:
        self.kubeconfig = self._cluster.kubeconfig
        self._hasten_controller_manager()
        apply_definitions(self.kubeconfig)
        self.api = Api(self.kubeconfig)
        self.audit = Audit(os.path.join(self._cluster.folder(), "audit.log"))
        self.version = self.api.call("GET", "/version")["gitVersion"]

    def __exit__(self, *problem: Any) -> None:
        self._cluster.__exit__(*problem)

    def _hasten_controller_manager(self) -> None:
        """Its limit of requests a second would be all that is measured. Endpoints, which nobody here resolves, are as many
        writes as all others of a gang, whoever leases its nodes. To look at a thousand nodes every second, as it does for
        tests, takes a quarter of a core: here as often as it does by default."""
        state, part = State(self._cluster.name), "controller-manager"
        commands = state.facts()["commands"]
        replaced = ("--kube-api-qps", "--kube-api-burst", *([] if self._tiny else ["--node-monitor-period"]))
        kept = [word for word in commands[part] if not word.startswith(replaced)]
        state.remember(commands={**commands, part: [*kept, "--kube-api-qps=5000", "--kube-api-burst=5000",
                                                    "--controllers=*,-endpoint,-endpointslice,-endpointslicemirroring"]})
        servers.stop(state, part)
        servers.start(state, part)

    def need_nodes(self, count: int, *pools: str, gpus: int = 1, **spec: Any) -> None:
        """At least so many in each of these pools, which are made, with this spec, if there are none."""
        pools = pools or (POOL,)
        wanted = [(pool, index, gpus) for pool in pools for index in range(self.pools.get(pool, 0), count)]
        for pool in pools:
            if pool not in self.pools:
                self.api.create("gpupools", pool_manifest(pool, {POOL_LABEL: pool}, nodeLossTimeoutSeconds=PATIENCE,
                                                               **spec))
            self.pools[pool] = max(count, self.pools.get(pool, 0))
        self.each(lambda node: self._add_node(*node), wanted)
        if wanted:
            self._wait_untouched()

    def _add_node(self, pool: str, index: int, gpus: int) -> None:
        name = f"{'node' if pool == POOL else pool}-{index:05}"
        self.api.create("nodes", {"metadata": {"name": name, "labels": {POOL_LABEL: pool}}, "status": ready_status(gpus)})

    def counts(self) -> dict[Any, dict[str, Any]]:
        """What an operator with nothing to do says of each pool's nodes."""
        return {pool: {"total": nodes} if pool in self.in_use else {"total": nodes, "available": nodes}
                for pool, nodes in self.pools.items()}

    def drop_jobs(self, limit: float = 600) -> None:
        """Of all namespaces; the operator and the kubelets must be there."""
        jobs = [(job["metadata"]["name"], job["metadata"]["namespace"]) for job in self.api.list("gpujobs")]
        self.each(lambda job: self.api.delete("gpujobs", *job), jobs)
        end = time.monotonic() + within(limit)
        while self.api.list("gpujobs"):
            if time.monotonic() > end:
                raise RuntimeError("waited for the jobs to be gone")
            time.sleep(0.2)

    def drop_namespace(self, name: str, limit: float = 600) -> None:
        """With all that is in it; who ends its jobs must be there."""
        self.api.delete("namespaces", name)
        end = time.monotonic() + within(limit)
        while self.api.find("namespaces", name):
            if time.monotonic() > end:
                raise RuntimeError(f"waited for namespace {name} to be gone")
            time.sleep(0.2)

    def wait_collected(self, *namespaces: str, limit: float = 300) -> None:
        """Until the garbage collector has taken what jobs that are gone have left: the next ones may have their names."""
        end = time.monotonic() + within(limit)
        while left := [kind for kind in ("jobs", "statefulsets", "services", "pods") for namespace in namespaces
                       if self.api.list(kind, namespace)]:
            if time.monotonic() > end:
                raise RuntimeError(f"waited for {left[0]} of deleted jobs to be gone")
            time.sleep(0.1)

    def drop_pools(self, *pools: str) -> None:
        """Nothing may be on their nodes."""
        for pool in pools:
            self.api.delete("gpupools", pool)
        self.each(lambda node: self.api.delete("nodes", node),
                  [f"{pool}-{index:05}" for pool in pools for index in range(self.pools.pop(pool))])

    @staticmethod
    def each(action: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            return list(threads.map(action, items))

    def _wait_untouched(self) -> None:
        """The controller manager writes into new nodes for a while: on a busy machine its first write may be late."""
        before, since, end = None, time.monotonic(), time.monotonic() + within(600)
        while time.monotonic() - since < self._untouched:
            nodes = self.api.list("nodes")
            now = {node["metadata"]["name"]: node["metadata"]["resourceVersion"] for node in nodes}
            if now != before or not all(map(_is_settled, nodes)):
                before, since = now, time.monotonic()
            if time.monotonic() > end:
                restless = [node["metadata"]["name"] for node in nodes if not _is_settled(node)]
                raise RuntimeError(f"the controller manager still writes into new nodes; not settled: {restless[:5]}")
            time.sleep(0.3)

    def namespace(self, name: str | None = None) -> str:
        name = name or f"bench-{next(_namespaces)}"
        self.api.create("namespaces", {"metadata": {"name": name}})
        return name

    def operator(self, *arguments: Any) -> "Operator":
        return Operator(self, *arguments)

    def floor(self, *arguments: Any) -> "Floor":
        return Floor(self, *arguments)

    def player(self, run_ms: int, *arguments: Any) -> Service:
        return Service("bench_player", "--kubeconfig", self.kubeconfig, "--run-ms", run_ms, *arguments)

    def restart_api_server(self) -> None:
        state = State(self._cluster.name)
        servers.stop(state, "apiserver")
        servers.start(state, "apiserver")

    def wait_for_lists(self, service: Any, kinds: int, limit: float = 300) -> int:
        """Until it has listed so many kinds since audit.begin(), and watches them; how many requests for lists that took."""
        listed, watched, end = collections.Counter(), set(), time.monotonic() + within(limit)
        while len(watched) < kinds:
            time.sleep(0.05)
            for entry in self.audit.new_entries():
                if not entry.get("userAgent", "").startswith(service.agent) or entry["responseStatus"]["code"] != 200:
                    continue
                kind = entry.get("objectRef", {}).get("resource")
                if entry["verb"] == "list" and "fieldSelector" not in entry["requestURI"]:
                    listed[kind] += 1
                elif entry["verb"] == "watch" and entry["stage"] == "ResponseStarted" and kind in listed:
                    watched.add(kind)
            if time.monotonic() > end or not service.running():
                raise RuntimeError(f"{service.name} has listed {dict(listed)} only\n{service.log()[-2000:]}")
        return sum(listed.values())

    def cpu_of_servers(self) -> dict[str, float]:
        """Seconds so far, by part."""
        state = State(self._cluster.name)
        init, commands = processes.find_init(processes.cluster_title(state.name)), state.facts()["commands"]
        if init is None:
            raise RuntimeError(f"cluster {state.name} does not run")
        return {part: sum(cpu_seconds(pid) for pid in processes.pids_of(init, os.path.basename(command[0])))
                for part, command in commands.items()}


class Floor(Service):
    agent = "bench-floor"

    def __init__(self, plane: Plane, *arguments: Any) -> None:
        super().__init__("bench_floor", "--kubeconfig", plane.kubeconfig, *arguments)

    def wait_until_ready(self) -> None:
        self.wait_for("its caches", lambda: "ready" in self.log())


class Operator(Service):
    agent = "gpupool-operator"

    def __init__(self, plane: Plane, *arguments: Any) -> None:
        super().__init__("gpupool-operator", "--kubeconfig", plane.kubeconfig, "--metrics-bind-address", "127.0.0.1:0",
                         "--launcher-image", LAUNCHER_IMAGE, *arguments)
        self._plane = plane
        self.ready_after = 0.0

    def wait_until_ready(self) -> None:
        began = time.monotonic()
        self.wait_for("its caches", self._is_ready, 300)
        self.ready_after = time.monotonic() - began
        self.wait_for("its pools", self._has_counted, 300)

    def _has_counted(self) -> bool:
        """Looks now and then: an answer names each pool."""
        counted = {pool["metadata"]["name"]: pool.get("status", {}).get("nodes", {}) for pool in
                   self._plane.api.list("gpupools", resourceVersion="0")}
        return all(counted.get(pool, {}).items() >= wanted.items() for pool, wanted in self._plane.counts().items())

    def _is_ready(self) -> bool:
        found = re.search(r'"port":(\d+)', self.log())
        if not found:
            return False
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/readyz", timeout=10) as answer:
                return answer.status == 200
        except urllib.error.HTTPError:
            return False
