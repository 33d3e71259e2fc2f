# SPDX-License-Identifier: Apache-2.0
"""An operator on a real API server, with nodes, device plugins and kubelets that are played."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any, Sequence

from tests.kit.kubectl import apply_definitions
from tests.kit.lab import Lab
from tests.kit.played.case import FakeClusterCase
from tests.kit.played.kubelet import PlayedKubelet
from tests.kit.played.nodes import FakeNodes
from tests.kit.played.plugins import FakePlugins
from tests.kit.unittests import run_tests


class PlayedCluster:
    """As a context manager the operator runs inside, and all that is played."""

    def __init__(self, kubeconfig: str, prefix: str) -> None:
        """prefix: of namespaces."""
        apply_definitions(kubeconfig)
        self.folder = tempfile.mkdtemp(prefix=f"gpupool-{prefix}-")
        self.lab = Lab(kubeconfig, os.path.join(self.folder, "operator.log"), prefix)
        self.nodes, self.plugins = FakeNodes(self.lab.api), FakePlugins(self.lab.api)
        self.kubelet = PlayedKubelet(self.lab.api, self.plugins)

    def __enter__(self) -> "PlayedCluster":
        self.lab.operator.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self.kubelet.close()
        self.nodes.close()
        if self.lab.operator.running():
            self.lab.operator.stop()
        print(f"the operator's log is {self.lab.operator.log_path}", file=sys.stderr)

    def give_to(self, case: type[FakeClusterCase]) -> None:
        """To these tests, and to those derived from them."""
        case.lab, case.nodes, case.plugins, case.kubelet = self.lab, self.nodes, self.plugins, self.kubelet

    def remove_leftovers(self) -> None:
        """Of a run that was killed."""
        self.lab.remove_leftovers()
        for node in self.lab.api.list("nodes"):
            if node["metadata"]["name"].startswith("it-"):
                self.lab.api.delete("nodes", node["metadata"]["name"])
        for pool in self.lab.api.list("gpupools"):
            self.lab.api.delete("gpupools", pool["metadata"]["name"])


def run_on_played_cluster(kubeconfig: str, prefix: str, folder: Path, names: Sequence[str]) -> int:
    """The exit code of the tests of a folder, which are all FakeClusterCases."""
    with PlayedCluster(kubeconfig, prefix) as cluster:
        cluster.give_to(FakeClusterCase)
        cluster.remove_leftovers()
        return run_tests(folder, names)
