# SPDX-License-Identifier: Apache-2.0
"""What the programs asked of the API server, against what their roles allow: no more, and no less."""

import json
import os
from typing import Any

from tests.install.site_under_test import Site
from tests.kit.names import SYSTEM_NAMESPACE

# Allowed, and not to be seen in every run: (resource, verb) and why.
RARE = {
    "operator": {
        ("nodes", "get"): "a live look before a write, where the cache may be behind",
        ("pods", "get"): "the same", ("jobs", "get"): "the same", ("statefulsets", "get"): "the same",
        ("services", "get"): "the same", ("gpunodes", "get"): "the same", ("gpupools", "get"): "the same",
        ("gpujobs", "get"): "the same", ("gpusweeps", "get"): "the same",
        ("gpujobs/finalizers", "update"): "is asked by the API server itself, of an owner reference",
        ("events", "patch"): "an event that is repeated",
        ("gpujobs", "delete"): "ttlSecondsAfterFinished, and keepJobs of sweeps",
        ("gpujobs", "create"): "only of trials of sweeps", ("gpusweeps/status", "update"): "only of sweeps",
        ("gpusweeps/finalizers", "update"): "is asked by the API server itself, of an owner reference",
        ("pods", "create"): "a dry run that tells why a worker's pod does not come",
        ("resourcequotas", "list"): "only before the first lease of a gang",
        ("events", "list"): "only if a worker does not start within 10 s",
        ("gpubillrecords", "create"): "only while the ledger is behind",
    },
    "device-plugin": {("gpunodes", "patch"): "gives a GpuNode that it did not make its owner"},
}


def remember(site: Site) -> None:
    """What the operator may do only now."""
    site.allowed_once |= _allowed(site, "gpupool-operator")


def check(site: Site) -> None:
    used = _used(os.path.join(site.cluster.folder(), "audit.log"))
    for component in ("operator", "device-plugin"):
        name = "gpupool-" + component
        calls, refused = used.get(name, (set(), set()))
        allowed = _allowed(site, name) | (site.allowed_once if component == "operator" else set())
        site.report.check(f"{name} was refused nothing", not refused, refused)
        site.report.check(f"{name} did nothing but what its roles say", calls <= allowed, calls - allowed)
        idle = allowed - calls - set(RARE[component])
        site.report.check(f"{name} may do nothing that it does not", not idle, sorted(idle))
        gone = set(RARE[component]) - allowed
        site.report.check(f"the list of what {name} rarely does is true", not gone, gone)


def _used(path: str) -> Any:
    """{account: ({(resource, verb)} that passed, the same that was refused)}"""
    found, prefix = {}, f"system:serviceaccount:{SYSTEM_NAMESPACE}:"
    with open(path, encoding="utf-8") as log:
        for line in log:
            entry = json.loads(line)
            user, reference = entry["user"]["username"], entry.get("objectRef")
            if not user.startswith(prefix) or not reference or "resource" not in reference:
                continue
            resource = "/".join(filter(None, (reference["resource"], reference.get("subresource"))))
            code = entry.get("responseStatus", {}).get("code", 200)
            found.setdefault(user.removeprefix(prefix), (set(), set()))[code == 403].add((resource, entry["verb"]))
    return found


def _allowed(site: Site, name: str) -> set[tuple[Any, Any]]:
    roles = [site.api.get("clusterroles", name)]
    text = site.kubectl("-n", SYSTEM_NAMESPACE, "get", "roles", "-o", "json")
    if name == "gpupool-operator":
        roles += json.loads(text)["items"]
    return {(resource, verb) for role in roles for rule in role["rules"]
            for resource in rule["resources"] for verb in rule["verbs"]}
