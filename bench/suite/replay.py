# SPDX-License-Identifier: Apache-2.0
"""The job mix of Kueue's performance test: the operator beside the floor."""

import collections
from typing import Any

from bench.suite.audit import WRITES, name_of, time_of
from bench.suite.plane import Plane
from bench.suite.programs import Service, call
from bench.suite.results import Results

LIMIT = 7500  # seconds, only for hangs, and more than its own: 30 pools take half an hour on two cores
KINDS = ("small", "medium", "large")
AGENTS = {"operator": "gpupool-operator", "floor": "bench-floor", "player": "bench-player",
          "controller manager": "kube-controller-manager", "submitter": "bench-replay"}
ASIDE = {"events": "operator: Events", "gpupools": "operator: status of pools"}  # not for each job, or not waited for
STATEFUL_SETS, COLLECTOR = "statefulset-controller", "generic-garbage-collector"


class Size:
    """Of all pools: nodes, and jobs of each kind. The nodes are the GPUs that a large job has; a medium one a quarter."""

    def __init__(self, pools: int, nodes: int = 20, small: int = 350, medium: int = 100, large: int = 50) -> None:
        self.pools, self.nodes, self.jobs = pools, nodes, dict(zip(KINDS, (small, medium, large)))

    def arguments(self) -> list[Any]:
        counts = [("--" + kind, count) for kind, count in self.jobs.items()]
        return [word for pair in [("--pools", self.pools), ("--nodes", self.nodes), *counts] for word in pair]

    def bound(self) -> float:
        """Seconds that no scheduler can beat: all GPUs busy all the time."""
        work = (self.jobs["small"] * 0.2 + self.jobs["medium"] * 0.5 * ((self.nodes + 3) // 4)
                + self.jobs["large"] * self.nodes)
        return work / self.nodes

    def total(self) -> int:
        return self.pools * sum(self.jobs.values())


def _delays(times: dict[Any, list[float]]) -> list[Any]:
    """Sorted milliseconds from (first, last) pairs."""
    return sorted((last - first) * 1e3 for first, last in times.values() if first and last)


def _census(results: Results, benchmark: str, subject: str, plane: Plane, seconds: float) -> None:
    """Who wrote how much, and how long the controller manager took for gangs."""
    writes, own, conflicts, reads = collections.Counter(), collections.Counter(), 0, 0
    made, dropped = (collections.defaultdict(lambda: [0.0, 0.0]) for _ in range(2))  # StatefulSet -> [it, its last pod]
    for entry in plane.audit.entries():
        agent, ref = entry.get("userAgent", ""), entry.get("objectRef", {})
        if entry["verb"] not in WRITES:
            reads += entry["verb"] != "watch" and agent.startswith(AGENTS[subject])
            continue
        aside = ASIDE.get(ref.get("resource")) if agent.startswith(AGENTS["operator"]) else None
        writes[aside or next((name for name, prefix in AGENTS.items() if agent.startswith(prefix)), "others")] += 1
        if agent.startswith(AGENTS[subject]) and not aside:
            own[name_of(entry)] += 1
            conflicts += entry.get("responseStatus", {}).get("code") == 409
        when = time_of(entry["stageTimestamp"])
        times = {"create": made, "delete": dropped}.get(entry["verb"])
        if times is None or "subresource" in ref:
            continue
        key = (ref.get("namespace"), ref.get("name", ""))
        if ref.get("resource") == "statefulsets":
            times[key][0] = when
        elif ref.get("resource") == "pods" and agent.endswith((STATEFUL_SETS, COLLECTOR)):
            owner = (key[0], key[1].rpartition("-")[0])
            times[owner][1] = max(times[owner][1], when)
    for name in (*AGENTS, *ASIDE.values(), "others"):
        results.add(benchmark, f"{subject}: API writes of {name}", writes[name], "writes")
    results.add(benchmark, f"{subject}: API writes a second", sum(writes.values()) / seconds, "writes/s")
    for name, count in sorted(own.items()):
        results.add(benchmark, f"{subject}:   {name}", count, "writes")
    results.add(benchmark, f"{subject}: conflicts", conflicts, "writes")
    results.add(benchmark, f"{subject}: API reads", reads, "reads")
    for what, times in (("StatefulSet created to last pod created", made), ("StatefulSet deleted to last pod deleted",
                                                                          dropped)):
        delays = _delays(times)
        if delays:
            at = [delays[round(part * (len(delays) - 1))] for part in (0.5, 0.99, 0.999)]
            results.add(benchmark, f"{subject}: {what}", at[0], "ms", p99=at[1], p999=at[2])


def _run(results: Results, plane: Plane, size: Size, benchmark: str, subject: str, service: Any,
         player: Service) -> Any:
    """Wall time."""
    common = ["--kubeconfig", plane.kubeconfig, "--prefix", "replay", *size.arguments()]
    plane.audit.begin()
    servers, cpu = plane.cpu_of_servers(), service.cpu_seconds()
    output = call("bench_replay", *common, beside=[service, player], limit=LIMIT)
    results.add(benchmark, f"{subject}: CPU", service.cpu_seconds() - cpu, "s")
    results.add(benchmark, f"{subject}: memory at most", service.memory_mib("VmHWM"), "MiB")
    for part, spent in plane.cpu_of_servers().items():
        results.add(benchmark, f"{subject}: CPU of {part}", spent - servers[part], "s")
    found = {entry["name"]: entry["value"] for entry in output["results"]}
    seconds = found["first submitted to last one done"]
    _census(results, benchmark, subject, plane, seconds)
    for entry in output["results"]:
        results.take(benchmark, {"results": [{**entry, "name": f"{subject}: {entry['name']}"}]})
    if found["jobs succeeded"] != size.total():
        results.add(benchmark, f"{subject}: jobs lacking", size.total() - found["jobs succeeded"], "error")
    gone = call("bench_replay", *common, "--end", "delete", beside=[service, player], limit=LIMIT)
    results.take(benchmark, {"results": [{**entry, "name": f"{subject}: {entry['name']}"} for entry in gone["results"]]})
    return seconds


def measure(results: Results, plane: Plane, size: Size, workers: int, runs: int) -> None:
    """All jobs come as they do there; from the first submission until the last one has given back its nodes."""
    pools = [f"replay-{index}" for index in range(size.pools)]
    benchmark = f"replay on {size.pools} pools of {size.nodes} nodes"
    plane.need_nodes(size.nodes, *pools)
    for pool in pools:
        plane.namespace(pool)
    results.add(benchmark, "all GPUs busy all the time", size.bound(), "s")
    for _ in range(runs):
        with plane.player(500, "--threads", 16) as player:
            with plane.floor("--workers", workers) as service:
                floor = _run(results, plane, size, benchmark, "floor", service, player)
            plane.wait_collected(*pools)
            with plane.operator("--workers", workers) as service:
                ours = _run(results, plane, size, benchmark, "operator", service, player)
            plane.wait_collected(*pools)
        results.add(benchmark, "operator / floor", ours / floor, "x")
    plane.drop_pools(*pools)
