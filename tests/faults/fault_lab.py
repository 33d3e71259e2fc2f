# SPDX-License-Identifier: Apache-2.0
"""What fault tests share: the cluster, the operators, and worlds with names that are used once."""

import itertools
import os
import tempfile

from tests.faults.books_compared import differences, enter_records
from tests.faults.operator_pair import ELECTION
from tests.faults.run_record import RunRecord
from tests.faults.world import World
from tests.kit.api import Api, Object
from tests.kit.kubectl import apply_definitions
from tests.kit.ledger_process import LedgerProcess
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.played.kubelet import PlayedKubelet
from tests.kit.played.nodes import FakeNodes
from tests.kit.played.plugins import FakePlugins

BINARY = operator_binary() + "-faults"
CAPABILITIES = ["--ledger"]  # that the operator has to be told of
KUBELET_POLL = 0.03  # seconds; there are thousands of runs


class FaultLab:
    def __init__(self, kubeconfig: str) -> None:
        apply_definitions(kubeconfig)
        self.kubeconfig, self.api = kubeconfig, Api(kubeconfig)
        self._numbers = itertools.count(1)
        self.log = os.path.join(tempfile.mkdtemp(prefix="gpupool-faults-"), "operator.log")
        self.process = OperatorProcess(BINARY, kubeconfig, self.log, CAPABILITIES)
        self.ledger = LedgerProcess(kubeconfig, os.path.dirname(self.log))  # not started
        self.nodes = FakeNodes(self.api)
        self.run_record = RunRecord(self.api)  # of the worlds; the races have others
        self._billed: list[Object] = []  # of all worlds
        self._compared = 0  # so many of these
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
        return [OperatorProcess(BINARY, self.kubeconfig, f"{self.log}.{n}", [*ELECTION, *CAPABILITIES]) for n in (1, 2)]

    def new_world(self) -> World:
        world = World(self.api, self.nodes, self.kubelet, self.new_name())
        world.billed = self._billed
        world.set_up()
        return world

    @property
    def booked(self) -> int:
        """Segments of jobs that are gone, compared with the books."""
        return self._compared

    def compare_books(self, at_least: int = 1) -> list[str]:
        """The ledger enters what was kept of jobs that are gone, if it is so much. What is wrong in its books. For when no
        job is there: the operator makes no records of what is entered."""
        new = self._billed[self._compared:]
        if len(new) < at_least:
            return []
        self._compared = len(self._billed)
        enter_records(self.api, self.ledger)
        return differences(self.ledger, new)

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
        self.ledger.kill()
        if self._kubelet:
            self._kubelet.close()
        self.nodes.close()
