# SPDX-License-Identifier: Apache-2.0
"""For tests that end, pause or damage the servers: a control plane of their own, one for a module."""

import contextlib
import os
import threading
import time
import unittest
from typing import Iterator

from tests.kit.api import ApiError
from tests.kit.cluster import Cluster
from tests.kit.jobs import JobHandle
from tests.kit.played.case import FakeClusterCase
from tests.kit.paths import CRDS
from tests.kit.played.cluster import PlayedCluster

QUOTA_MIB = 48


class OwnPlaneCase(FakeClusterCase):
    control_plane: Cluster
    played: PlayedCluster | None = None  # on it

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if OwnPlaneCase.played is None:
            OwnPlaneCase._start()
        assert OwnPlaneCase.played is not None
        OwnPlaneCase.played.give_to(cls)

    @staticmethod
    def _start() -> None:
        """Both end with the module."""
        with contextlib.ExitStack() as stack:
            cluster = Cluster(f"own-{os.getpid()}", "--control-plane-only", "--definitions", CRDS, "--etcd-quota",
                              str(QUOTA_MIB))
            OwnPlaneCase.control_plane = stack.enter_context(cluster)
            OwnPlaneCase.played = stack.enter_context(PlayedCluster(cluster.kubeconfig, "own"))
            stack.callback(OwnPlaneCase._forget)
            unittest.addModuleCleanup(stack.pop_all().close)

    @staticmethod
    def _forget() -> None:
        OwnPlaneCase.played = None

    @property
    def folder(self) -> str:
        """For files of the tests, outside the control plane."""
        assert self.played is not None
        return self.played.folder

    def server(self, verb: str, *arguments: str) -> None:
        self.control_plane.verb(verb, *arguments)

    @contextlib.contextmanager
    def kubelets_reporting(self) -> Iterator[None]:
        """Meanwhile they report whenever the server answers, as true ones do when they are called dead: after an outage
        the node controller goes by what it knew before, and on a busy machine for seconds."""
        stop = threading.Event()

        def report() -> None:
            while not stop.wait(0.3):
                for name in self.node_names:
                    with contextlib.suppress(OSError, ApiError):
                        self.nodes.set_ready(name, "True")

        thread = threading.Thread(target=report)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def kubelets_report(self) -> None:
        """The node controller has heard of none for a while; a kubelet's next report mends that."""
        for _ in range(6):
            for name in self.node_names:
                self.nodes.set_ready(name, "True")
            time.sleep(0.2)

    def pods_of(self, *jobs: JobHandle) -> dict[str, str]:
        """Names to UIDs: what must not change."""
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for job in jobs for pod in job.pods()}
