# SPDX-License-Identifier: Apache-2.0
"""People with tokens of the cluster, and what gpupool's own servers answer them."""

import http.client
import ssl
from typing import Any

from tests.kit.api import Api


def token_of(api: Api, namespace: str, account: str) -> str:
    """A new token of this service account."""
    answer: Any = api.call("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}})
    token: str = answer["status"]["token"]
    return token


def ask(host: str, port: int, certificate: str, path: str, token: str | None, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    """By TLS, trusting this certificate alone. headers: with _ for -."""
    connection = http.client.HTTPSConnection(host, port, context=ssl.create_default_context(cafile=certificate), timeout=120)
    if token is not None:
        headers.setdefault("Authorization", f"Bearer {token}")
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()
