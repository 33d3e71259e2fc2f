# SPDX-License-Identifier: Apache-2.0
"""What fault tests share: the cluster, the operators, and worlds with names that are used once."""

import itertools
import os
import tempfile

from tests.faults.operator_pair import ELECTION
from tests.faults.run_record import RunRecord
from tests.faults.world import World
from tests.kit.api import Api
from tests.kit.kubectl import apply_definitions
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.played.kubelet import PlayedKubelet
from tests.kit.played.nodes import FakeNodes
from tests.kit.played.plugins import FakePlugins

BINARY = operator_binary() + "-faults"
KUBELET_POLL = 0.03  # seconds; there are thousands of runs


class FaultLab:
    def __init__(self, kubeconfig: str) -> None:
        apply_definitions(kubeconfig)
        self.kubeconfig, self.api = kubeconfig, Api(kubeconfig)
        self._numbers = itertools.count(1)
        self.log = os.path.join(tempfile.mkdtemp(prefix="gpupool-faults-"), "operator.log")
        self.process = OperatorProcess(BINARY, kubeconfig, self.log)
        self.nodes = FakeNodes(self.api)
        self.run_record = RunRecord(self.api)  # of the worlds; the races have others
        self._kubelet: PlayedKubelet | None = None
        self._world: World | None = None

    @property
    def kubelet(self) -> PlayedKubelet:
        """Of the worlds; the races have others."""
        if self._kubelet is None:
            self.run_record = RunRecord(self.api)
            self._kubelet = PlayedKubelet(self.api, FakePlugins(self.api), self.run_record, KUBELET_POLL)
        return self._kubelet

    @property
    def world(self) -> World:
        """One that is used again and again."""
        if self._world is None:
            self._world = self.new_world()
        return self._world

    def new_name(self) -> str:
        """For namespaces and nodes: a namespace that is gone takes a while to go."""
        return f"f{os.getpid()}-{next(self._numbers)}"

    def pair(self) -> list[OperatorProcess]:
        """Two operators of which one leads."""
        return [OperatorProcess(BINARY, self.kubeconfig, f"{self.log}.{n}", ELECTION) for n in (1, 2)]

    def new_world(self) -> World:
        world = World(self.api, self.nodes, self.kubelet, self.new_name())
        world.set_up()
        return world

    def fresh_world(self) -> None:
        """What a failed scenario left behind must not touch the next."""
        if self._world:
            self._world.abandon()
        self._world = None

    def leave_worlds(self) -> None:
        """For what wants the cluster for itself."""
        if self._world:
            self._world.leave()
        if self._kubelet:
            self._kubelet.close()
        self._kubelet = self._world = None

    def close(self) -> None:
        if self._kubelet:
            self._kubelet.close()
        self.nodes.close()
