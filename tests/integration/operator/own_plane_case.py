"""For tests that end, pause or damage the servers: a control plane of their own, one for a module."""

import os
import tempfile
import time
import unittest

from fake_kubelet import FakeKubelet
from fake_nodes import FakeNodes
from fake_plugins import FakePlugins
from operator_case import FakeClusterCase
from support.cluster import Cluster, apply_definitions
from support.lab import Lab

QUOTA_MIB = 48


class OwnPlane:
    """The control plane, an operator, and the tests' nodes and kubelets on it."""

    def __init__(self):
        self.cluster = Cluster(f"own-{os.getpid()}", "--control-plane-only", "--etcd-quota", str(QUOTA_MIB))
        self.cluster.__enter__()
        try:
            self.folder = tempfile.mkdtemp(prefix="gpupool-own-plane-")
            apply_definitions(self.cluster.kubeconfig)
            self.lab = Lab(self.cluster.kubeconfig, os.path.join(self.folder, "operator.log"), "own",
                           arguments=["--launcher-image", "gpupool.dev/launcher:dev"])
            self.nodes, self.plugins = FakeNodes(self.lab.api), FakePlugins(self.lab.api)
            self.kubelet = FakeKubelet(self.lab.api, self.plugins)
            self.lab.operator.start()
        except BaseException:
            self.cluster.__exit__()
            raise

    def close(self):
        self.kubelet.close()
        self.nodes.close()
        if self.lab.operator.running():
            self.lab.operator.stop()
        self.cluster.__exit__()


class OwnPlaneCase(FakeClusterCase):
    plane = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if OwnPlaneCase.plane is None:
            OwnPlaneCase.plane = OwnPlane()
            unittest.addModuleCleanup(OwnPlaneCase.end)
        plane = OwnPlaneCase.plane
        cls.lab, cls.nodes, cls.plugins, cls.kubelet = plane.lab, plane.nodes, plane.plugins, plane.kubelet

    @staticmethod
    def end():
        OwnPlaneCase.plane.close()
        OwnPlaneCase.plane = None

    def server(self, verb, *arguments):
        self.plane.cluster.verb(verb, *arguments)

    def kubelets_report(self):
        """The node controller has heard of none for a while; a kubelet's next report mends that."""
        for _ in range(6):
            for name in self.node_names:
                self.nodes.set_ready(name, "True")
            time.sleep(0.2)

    def pods_of(self, *jobs):
        """Names to UIDs: what must not change."""
        return {pod["metadata"]["name"]: pod["metadata"]["uid"] for job in jobs for pod in job.pods()}
