# SPDX-License-Identifier: Apache-2.0
"""The network of a cluster, in network namespaces of its own.

host --- gpupool-S ... uplink --- hub (bridge `nodes`, 10.S.0.1) --- one veth for each node (10.S.0.10+i)

The control plane runs in the hub. Pods of node i have 10.S.10+i.0/24. Services have 10.S.128.0/17, and the API
server's, 10.S.128.1, is an address of the bridge where the API server really listens. So there is no address
translation, no firewall rule, and nothing on the host but one link and one route, which die with the namespace.
"""

import ipaddress
import json
import subprocess
import zlib
from typing import Any

from tests.cluster.harness import processes
from tests.cluster.harness.errors import ClusterError

SLOTS = range(190, 250)
LINK_PREFIX = "gpupool-"


class Addresses:
    """All addresses of the cluster that has slot S."""

    def __init__(self, slot: int) -> None:
        self.slot = slot
        self.net = f"10.{slot}.0.0/16"
        self.hub = f"10.{slot}.0.1"
        self.host = f"10.{slot}.255.1"
        self.uplink = f"10.{slot}.255.2"
        self.services = f"10.{slot}.128.0/17"
        self.api_service = f"10.{slot}.128.1"

    def node(self, index: int) -> str:
        return f"10.{self.slot}.0.{10 + index}"

    def pods(self, index: int) -> str:
        return f"10.{self.slot}.{10 + index}.0/24"


def _ip(*arguments: str, init: int | None = None) -> Any:
    command = ["ip", *arguments]
    if init is not None:
        command = ["nsenter", "-t", str(init), "-n", "--", *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def _batch(lines: list[str], init: int) -> None:
    """Several `ip` commands in one process, in the network namespace of `init`."""
    done = subprocess.run(["nsenter", "-t", str(init), "-n", "--", "ip", "-batch", "-"], input="\n".join(lines) + "\n",
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"ip -batch: {done.stderr.strip()}")


def _in_use() -> Any:
    """Networks that the host can reach already: a slot must not hide one of them."""
    found = []
    for route in json.loads(_ip("-j", "-4", "route", "show", "table", "all")):
        if route["dst"] not in ("default", "0.0.0.0/0"):
            found.append(ipaddress.ip_network(route["dst"], strict=False))
    return found


def _links() -> Any:
    return json.loads(_ip("-j", "link", "show"))


def claim(cluster: str, init: int) -> Addresses:
    """Takes a slot by creating the link named after it: the kernel refuses a name twice, so no lock is needed."""
    used = _in_use()
    start = zlib.crc32(cluster.encode()) % len(SLOTS)
    for offset in range(len(SLOTS)):
        slot = SLOTS[(start + offset) % len(SLOTS)]
        if any(network.overlaps(ipaddress.ip_network(Addresses(slot).net)) for network in used):
            continue
        try:
            _ip("link", "add", f"{LINK_PREFIX}{slot}", "type", "veth", "peer", "name", "uplink", "netns", str(init))
        except ClusterError as error:
            if "File exists" in str(error):
                continue
            raise
        _ip("link", "set", f"{LINK_PREFIX}{slot}", "alias", processes.cluster_title(cluster))
        return Addresses(slot)
    raise ClusterError("every network 10.190.0.0/16 to 10.249.0.0/16 is in use on this machine")


def build_hub(addresses: Addresses, init: int) -> None:
    """Without a default route: what looks for the world outside, such as a kubelet for a cloud's metadata, is
    refused at once instead of waiting for an answer."""
    link = f"{LINK_PREFIX}{addresses.slot}"
    _batch(["link set lo up",
            "link add nodes type bridge",
            f"addr add {addresses.hub}/24 dev nodes",
            f"addr add {addresses.api_service}/32 dev nodes",
            "link set nodes up",
            f"addr add {addresses.uplink}/30 dev uplink",
            "link set uplink up"], init)
    _ip("addr", "add", f"{addresses.host}/30", "dev", link)
    _ip("link", "set", link, "up")
    _ip("route", "add", addresses.net, "via", addresses.uplink, "dev", link, "src", addresses.host)
    enable_forwarding(init)


def enable_forwarding(init: int) -> None:
    processes.run_inside(init, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward")


def attach_node(addresses: Addresses, index: int, hub_init: int, node_init: int) -> None:
    link = f"node{index}"
    # Of the node's machine before it was rebooted: the kernel removes that a moment after its last process has ended.
    subprocess.run(["nsenter", "-t", str(hub_init), "-n", "--", "ip", "link", "del", link], capture_output=True,
                   check=False)
    _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", str(node_init), init=hub_init)
    _batch([f"link set {link} master nodes up",
            f"route replace {addresses.pods(index)} via {addresses.node(index)}"], hub_init)
    _batch(["link set lo up",
            f"addr add {addresses.node(index)}/24 dev eth0",
            "link set eth0 up",
            f"route add default via {addresses.hub}"], node_init)
    enable_forwarding(node_init)


def set_node_link(index: int, hub_init: int, up: bool) -> None:
    """Cuts a node off from everything else, or joins it again."""
    _ip("link", "set", f"node{index}", "up" if up else "down", init=hub_init)


def remove_link(cluster: str) -> None:
    """The link goes by itself with the namespace, but a moment later than its last process."""
    for link in _links():
        if link["ifname"].startswith(LINK_PREFIX) and link.get("ifalias") == processes.cluster_title(cluster):
            subprocess.run(["ip", "link", "del", link["ifname"]], capture_output=True, check=False)
