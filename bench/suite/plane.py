"""A control plane, and nodes without machines."""

import concurrent.futures
import itertools
import os
import re
import sys
import time
import urllib.error
import urllib.request

from suite.programs import ROOT, Service

sys.path[:0] = [str(ROOT / "tests" / name) for name in ("e2e", "cluster", "integration/operator")]

from fake_nodes import amounts_of, ready_condition  # noqa: E402
from harness import servers  # noqa: E402
from harness.state import State  # noqa: E402
from suite.audit import Audit  # noqa: E402
from support.api import Api  # noqa: E402
from support.cluster import Cluster, apply_definitions  # noqa: E402
from support.jobs import pool_manifest  # noqa: E402

POOL = "bench"
LABEL = {"gpupool.dev.node-restriction.kubernetes.io/pool": POOL}
_namespaces = itertools.count(1)


class Plane:
    """As a context manager. Nodes stay Ready without heartbeats: nobody looks."""

    def __init__(self):
        self._cluster = Cluster(f"bench-{os.getpid()}", "--control-plane-only", "--audit", "--etcd-quota", "4096",
                                "--node-monitor-grace-period", "86400")
        self.nodes = 0

    def __enter__(self):
        self._cluster.__enter__()
        try:
            self._set_up()
        except BaseException:
            self._cluster.__exit__(*sys.exc_info())
            raise
        return self

    def _set_up(self):
        self.kubeconfig = self._cluster.kubeconfig
        self._hasten_controller_manager()
        apply_definitions(self.kubeconfig)
        self.api = Api(self.kubeconfig)
        self.audit = Audit(os.path.join(self._cluster.folder(), "audit.log"))
        self.version = self.api.call("GET", "/version")["gitVersion"]
        self.api.create("gpupools", pool_manifest(POOL, LABEL))

    def __exit__(self, *problem):
        self._cluster.__exit__(*problem)

    def _hasten_controller_manager(self):
        """Its limit of requests a second would be all that is measured."""
        state, part = State(self._cluster.name), "controller-manager"
        commands = state.facts()["commands"]
        kept = [word for word in commands[part] if not word.startswith(("--kube-api-qps", "--kube-api-burst"))]
        state.remember(commands={**commands, part: [*kept, "--kube-api-qps=5000", "--kube-api-burst=5000"]})
        servers.stop(state, part)
        servers.start(state, part)

    def need_nodes(self, count):
        """At least so many."""
        def add(index):
            amounts = amounts_of(1)
            status = {"capacity": amounts, "allocatable": amounts, "conditions": [ready_condition("True")]}
            self.api.create("nodes", {"metadata": {"name": f"node-{index:05}", "labels": LABEL}, "status": status})
        with concurrent.futures.ThreadPoolExecutor(8) as threads:
            list(threads.map(add, range(self.nodes, count)))
        if count > self.nodes:
            self.nodes = count
            self._wait_untouched()

    def _wait_untouched(self):
        """The controller manager writes into new nodes for a while."""
        before, since = None, time.monotonic()
        while time.monotonic() - since < 3:
            now = {node["metadata"]["name"]: node["metadata"]["resourceVersion"] for node in self.api.list("nodes")}
            if now != before:
                before, since = now, time.monotonic()
            time.sleep(0.3)

    def namespace(self):
        name = f"bench-{next(_namespaces)}"
        self.api.create("namespaces", {"metadata": {"name": name}})
        return name

    def operator(self, *arguments):
        return Operator(self, *arguments)

    def floor(self, workers):
        return Floor(self, workers)

    def player(self, run_ms):
        return Service("bench_player", "--kubeconfig", self.kubeconfig, "--run-ms", run_ms)


class Floor(Service):
    agent = "bench-floor"

    def __init__(self, plane, workers):
        super().__init__("bench_floor", "--kubeconfig", plane.kubeconfig, "--workers", workers)

    def __enter__(self):
        super().__enter__()
        self.wait_for("its caches", lambda: "ready" in self.log())
        return self


class Operator(Service):
    agent = "gpupool-operator"

    def __init__(self, plane, *arguments):
        super().__init__("gpupool-operator", "--kubeconfig", plane.kubeconfig, "--metrics-bind-address", "127.0.0.1:0",
                         "--launcher-image", "gpupool.dev/launcher:dev", *arguments)
        self._plane = plane
        self.ready_after = 0.0

    def __enter__(self):
        super().__enter__()
        began = time.monotonic()
        self.wait_for("its caches", self._is_ready, 120)
        self.ready_after = time.monotonic() - began
        counted = {"total": self._plane.nodes, "available": self._plane.nodes}
        self.wait_for("its pool", lambda: counted.items() <= self._pool_nodes().items(), 120)
        return self

    def _pool_nodes(self):
        return self._plane.api.get("gpupools", POOL).get("status", {}).get("nodes", {})

    def _is_ready(self):
        found = re.search(r'"port":(\d+)', self.log())
        if not found:
            return False
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/readyz", timeout=10) as answer:
                return answer.status == 200
        except urllib.error.HTTPError:
            return False
