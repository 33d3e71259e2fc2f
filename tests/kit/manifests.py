# SPDX-License-Identifier: Apache-2.0
"""GpuJobs and GpuPools for tests."""

from typing import Any

from tests.kit.names import API_VERSION

# Rank 0 lets the other ranks start: they wait until something listens on the master's port. It stays for a moment, since
# one that comes after the end of rank 0 would wait for minutes.
LISTEN = ('if [ "$RANK" = 0 ]; then while :; do '
          'nc -l -p "$MASTER_PORT" </dev/null >/dev/null 2>&1 || sleep 1; done & sleep 5; fi\n')

COMMIT = "33636d0e" * 5
SOURCE = {"items": [{"path": "data", "s3": {"bucket": "lab", "prefix": "set"}, "secret": "bucket"},
                    {"path": "code", "git": {"url": "https://git.example.com/code.git", "commit": COMMIT}}]}
RESULTS = [{"from": "/gpupool/work/out", "to": {"s3": {"bucket": "lab", "prefix": "$(job)/$(attempt)/$(rank)"}}, "ranks": [0]}]


PRICE = {"currency": "EUR", "perGpuHour": "1.20", "models": [{"model": "M", "perGpuHour": "3.10"}], "fee": 10}
PRICE_ON_DEMAND: dict[str, Any] = {"currency": "EUR", "perGpuHour": "1.20", "fee": 10, "demand": {"floor": "0.90", "ceiling": "1.50", "everyMinutes": 1}}


def shell(script: str, **container: Any) -> dict:
    """A worker's container that runs a shell script."""
    return {"name": "worker", "image": "gpupool.dev/busybox:1", "imagePullPolicy": "IfNotPresent",
            "command": ["sh", "-c", script], **container}


def job_manifest(name: str, namespace: str, pool: str, script: str = "sleep 3600", container: dict | None = None,
                 template: Any = None, pod: dict | None = None, **spec: Any) -> dict:
    """pod adds to the pod's spec, template replaces the whole template."""
    pod_spec = {"terminationGracePeriodSeconds": 1, "containers": [container or shell(script)], **(pod or {})}
    return {"apiVersion": API_VERSION, "kind": "GpuJob", "metadata": {"name": name, "namespace": namespace},
            "spec": {"pool": pool, "template": template or {"spec": pod_spec}, **spec}}


def sweep_manifest(name: str, namespace: str, pool: str, parameters: list, job: dict | None = None, **spec: Any) -> dict:
    """job replaces the whole job."""
    job = job or {"pool": pool, "template": {"spec": {"terminationGracePeriodSeconds": 1, "containers": [shell("train")]}}}
    return {"apiVersion": API_VERSION, "kind": "GpuSweep", "metadata": {"name": name, "namespace": namespace},
            "spec": {"parameters": parameters, "job": job, **spec}}


def pool_manifest(name: str, selector: dict[str, str], **spec: Any) -> dict:
    return {"apiVersion": API_VERSION, "kind": "GpuPool", "metadata": {"name": name},
            "spec": {"nodeSelector": {"matchLabels": selector}, **spec}}


def gpu_node_manifest(name: str, **metadata: Any) -> dict:
    return {"apiVersion": API_VERSION, "kind": "GpuNode", "metadata": {"name": name, **metadata}}
