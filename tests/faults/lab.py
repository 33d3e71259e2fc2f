"""The cluster that a run has, and worlds with names that no other run has used."""

import itertools
import os
import tempfile

from duel import ELECTION
from fake_nodes import FakeNodes
from kubelet import BookkeepingKubelet
from support.api import Api
from support.cluster import apply_definitions
from support.operator_process import OperatorProcess, operator_binary
from world import World

BINARY = operator_binary() + "-faults"


class FaultLab:
    def __init__(self, kubeconfig):
        apply_definitions(kubeconfig)
        self.kubeconfig, self.api = kubeconfig, Api(kubeconfig)
        self._numbers = itertools.count(1)
        self.log = os.path.join(tempfile.mkdtemp(prefix="gpupool-faults-"), "operator.log")
        self.process = OperatorProcess(BINARY, kubeconfig, self.log)
        self.nodes = FakeNodes(self.api)
        self._kubelet = self._world = None

    @property
    def kubelet(self):
        """Of the worlds; the races have others."""
        if self._kubelet is None:
            self._kubelet = BookkeepingKubelet(self.api)
        return self._kubelet

    @property
    def world(self):
        """One that is used again and again."""
        if self._world is None:
            self._world = self.new_world()
        return self._world

    def new_name(self):
        """For namespaces and nodes: a namespace that is gone takes a while to go."""
        return f"f{os.getpid()}-{next(self._numbers)}"

    def pair(self):
        """Two operators of which one leads."""
        return [OperatorProcess(BINARY, self.kubeconfig, f"{self.log}.{n}", ELECTION) for n in (1, 2)]

    def new_world(self):
        world = World(self.api, self.nodes, self.kubelet, self.new_name())
        world.set_up()
        return world

    def fresh_world(self):
        """What a failed scenario left behind must not touch the next."""
        self._world.abandon()
        self._world = None

    def leave_worlds(self):
        """For what wants the cluster for itself."""
        if self._world:
            self._world.leave()
        if self._kubelet:
            self._kubelet.close()
        self._kubelet = self._world = None

    def close(self):
        if self._kubelet:
            self._kubelet.close()
        self.nodes.close()
