# SPDX-License-Identifier: Apache-2.0
"""Starts the DNS of a cluster: dnsmasq in the hub, and the feeder that writes its host files."""

import os

from tests.cluster.harness import processes
from tests.cluster.harness.network import Addresses
from tests.cluster.harness.state import State

FEEDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "dns_feeder.py")


def start(state: State, init: int, addresses: Addresses) -> None:
    # `--server=/#/` answers unknown names with "no such name": without it they would be refused, which
    # resolvers take for a broken server.
    processes.start_inside(
        init, state.path("log", "dnsmasq"), "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--pid-file=",
        "--user=root", "--group=root", "--no-resolv", "--no-hosts", "--cache-size=0", "--server=/#/",
        "--log-facility=-", f"--listen-address={addresses.hub}", "--bind-interfaces", "--local-ttl=0",
        f"--hostsdir={state.path('dns')}")
    processes.start_inside(init, state.path("log", "dns-feeder"), "/usr/bin/python3", FEEDER, state.name,
                           environment={"GPUPOOL_CLUSTERS": os.path.dirname(state.folder)})
