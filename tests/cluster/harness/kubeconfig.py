# SPDX-License-Identifier: Apache-2.0
"""Kubeconfig files. JSON is YAML, so the standard library is enough."""

import base64
import json

from tests.cluster.harness.state import State


def _inline(path: str) -> str:
    with open(path, "rb") as source:
        return base64.b64encode(source.read()).decode()


def render(cluster: str, server: str, authority: str, user: dict[str, str]) -> str:
    return json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": cluster,
        "clusters": [{"name": cluster,
                      "cluster": {"server": server, "certificate-authority-data": _inline(authority)}}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": "user"}}],
    }, indent=1) + "\n"


def certificate_user(folder: str, name: str) -> dict[str, str]:
    return {"client-certificate-data": _inline(f"{folder}/{name}.crt"),
            "client-key-data": _inline(f"{folder}/{name}.key")}


def write_all(state: State, server: str, tokens: dict[str, str]) -> None:
    """`kubeconfig` has the admin's token, `kubeconfig-viewer` a user without rights, the last a client certificate."""
    authority = state.path("pki", "ca.crt")
    state.write("kubeconfig", render(state.name, server, authority, {"token": tokens["admin"]}))
    state.write("kubeconfig-viewer", render(state.name, server, authority, {"token": tokens["viewer"]}))
    state.write("kubeconfig-certificate",
                render(state.name, server, authority, certificate_user(state.path("pki"), "admin")))
