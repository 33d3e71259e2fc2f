# SPDX-License-Identifier: Apache-2.0
"""A cluster with kubelets for benchmarks: the true device plugin on simulated GPUs, a pool of all nodes, an operator."""

import contextlib
import os
import tempfile
from typing import Any, Iterator

from tests.kit.cluster import Cluster
from tests.kit.commands import output_of
from tests.kit.kubectl import apply_definitions
from tests.kit.lab import Lab
from tests.kit.manifests import pool_manifest
from tests.kit.names import POOL_LABEL
from tests.kit.paths import BUILD_IMAGE, launcher_binary

NODES = ["na", "nb", "nc"]  # one GPU each
POOL = "demo"


@contextlib.contextmanager
def real_lab(name: str, **pool: Any) -> Iterator[Lab]:
    """pool adds to the pool's spec."""
    with Cluster(f"bench-{name}-{os.getpid()}", "--nodes", ",".join(NODES), "--gpus",
                 ",".join(f"{node}=1" for node in NODES)) as cluster, tempfile.TemporaryDirectory() as folder:
        cluster.load(output_of(BUILD_IMAGE, "launcher", launcher_binary()))
        apply_definitions(cluster.kubeconfig)
        lab = Lab(cluster.kubeconfig, os.path.join(folder, "operator.log"), "bench", cluster)
        for node in NODES:
            lab.api.patch("nodes", node, {"metadata": {"labels": {POOL_LABEL: POOL}}})
        lab.api.create("gpupools", pool_manifest(POOL, {POOL_LABEL: POOL}, **pool))
        lab.operator.start()
        try:
            yield lab
        finally:
            lab.operator.stop()
