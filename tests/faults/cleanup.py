# SPDX-License-Identifier: Apache-2.0
"""Removes what a failed run left in the cluster, without an operator."""

from typing import Iterable

from tests.kit.api import Api, ApiError
from tests.kit.waiting import wait_for


def remove_everything(api: Api, namespaces: list[str], pools: Iterable[str]) -> None:
    """For when no operator runs and nobody writes any more; nodes are the caller's."""
    for namespace in namespaces:
        api.delete("namespaces", namespace)
    wait_for("what a failed run has left to be gone", lambda: not _remove(api, namespaces, pools),
             detail=lambda: str(_remove(api, namespaces, pools)))


def _remove(api: Api, namespaces: list[str], pools: Iterable[str]) -> list[tuple[str, str, str | None]]:
    """What was still there."""
    found: list[tuple[str, str, str | None]] = [
        (kind, o["metadata"]["name"], namespace) for namespace in namespaces for kind in ("gpujobs", "pods")
        for o in api.list(kind, namespace)]
    found += [("gpupools", pool, None) for pool in pools if api.find("gpupools", pool)]
    for kind, name, namespace in found:
        if api.delete(kind, name, namespace, gracePeriodSeconds=0) and api.find(kind, name, namespace):
            _remove_finalizers(api, kind, name, namespace)
    return found


def _remove_finalizers(api: Api, kind: str, name: str, namespace: str | None) -> None:
    try:
        api.patch(kind, name, {"metadata": {"finalizers": None}}, namespace)
    except ApiError as error:
        if error.code != 404:
            raise
