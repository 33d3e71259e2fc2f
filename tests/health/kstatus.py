# SPDX-License-Identifier: Apache-2.0
"""What kstatus, and so Flux, says about a custom resource. From sigs.k8s.io/cli-utils/pkg/kstatus, README and package
documentation: deletion first, then the generation, then the standard conditions in their order, then Ready."""

from typing import Any

from tests.kit.api import Object


def status(objekt: Object) -> Any:
    """(status, message)"""
    meta, found = objekt["metadata"], objekt.get("status") or {}
    if meta.get("deletionTimestamp"):
        return "Terminating", "scheduled for deletion"
    if "generation" in meta and "observedGeneration" in found and found["observedGeneration"] != meta["generation"]:
        return "InProgress", f"generation {meta['generation']} has not been observed"
    conditions = found.get("conditions", [])
    for condition in conditions:
        if condition["status"] == "True" and condition["type"] in ("Reconciling", "Stalled"):
            return {"Reconciling": "InProgress", "Stalled": "Failed"}[condition["type"]], condition.get("message", "")
    for condition in conditions:
        if condition["type"] == "Ready":
            return "Current" if condition["status"] == "True" else "InProgress", condition.get("message", "")
    return "Current", "nothing says otherwise"
