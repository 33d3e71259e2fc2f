# SPDX-License-Identifier: Apache-2.0
"""The pools of the cluster on which the end-to-end tests run, and which tests need which."""

from typing import Iterable

from tests.kit.paths import EXAMPLES, ROOT

# Manifest, nodes.
POOLS = {"demo": (EXAMPLES / "pool.yaml", ["na", "nb", "nc"]), "shared": (EXAMPLES / "shared-pool.yaml", ["nd"]),
         "limited": (ROOT / "tests" / "e2e" / "limited-pool.yaml", ["ne"])}
GPUS, SPLIT, ENFORCE = {"na": 1, "nb": 1, "nc": 1, "nd": 3, "ne": 1}, {"nd": 10, "ne": 10}, ["ne"]
# Modules that do not need all pools: a kubelet less is worth it.
MODULES = {"test_checkpoint": {"demo"}, "test_data": {"demo"}, "test_examples": {"demo", "shared"},
           "test_forgotten_ends": {"demo"}, "test_gangs": {"demo"},
           "test_kept_workers": {"demo"}, "test_lifecycle": {"demo"}, "test_log_breaks": {"demo"}, "test_logs": {"demo"},
           "test_nodes": {"demo"}, "test_page": {"demo"}, "test_queue": {"demo"}, "test_slices": {"shared"}, "test_device_plugin": {"shared"},
           "test_limiter": {"limited"}}
# The pools of each shard that runs beside the others.
SHARDS = [{"demo", "limited"}, {"demo", "shared"}, {"demo", "shared"}, {"demo"}]


def pools_of(name: str) -> set[str]:
    """Those that a test needs whose name begins with its module; all for any other name."""
    return MODULES.get(name.split(".")[0], set(POOLS))


def nodes_for(names: Iterable[str]) -> list[str]:
    """The nodes of the pools that these tests need."""
    pools = {pool for name in names for pool in pools_of(name)} or set(POOLS)
    return sorted(node for pool in pools for node in POOLS[pool][1])


def shards_for(group: str) -> list[int]:
    """The shards whose cluster has all that these tests need."""
    return [number for number, pools in enumerate(SHARDS) if pools_of(group) <= pools]
