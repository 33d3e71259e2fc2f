# SPDX-License-Identifier: Apache-2.0
"""The API server over HTTP with a kubeconfig's token and CA: a request takes milliseconds, a kubectl half a second."""

import base64
import builtins
import http.client
import json
import ssl
import subprocess
import threading
import urllib.parse
from typing import Any

from tests.kit.paths import kubectl_program

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"

# plural: (API, namespaced)
KINDS = {
    "nodes": ("/api/v1", False), "pods": ("/api/v1", True), "services": ("/api/v1", True),
    "namespaces": ("/api/v1", False), "configmaps": ("/api/v1", True), "serviceaccounts": ("/api/v1", True),
    "secrets": ("/api/v1", True), "persistentvolumes": ("/api/v1", False), "persistentvolumeclaims": ("/api/v1", True),
    "jobs": ("/apis/batch/v1", True), "statefulsets": ("/apis/apps/v1", True),
    "events": ("/apis/events.k8s.io/v1", True), "leases": ("/apis/coordination.k8s.io/v1", True),
    **{kind: ("/apis/gpupool.dev/v1alpha1", False) for kind in ("gpuaccounts", "gpubillrecords", "gpuledgers")},
    "gpujobs": ("/apis/gpupool.dev/v1alpha1", True), "gpusweeps": ("/apis/gpupool.dev/v1alpha1", True),
    "gpupools": ("/apis/gpupool.dev/v1alpha1", False),
    "gpunodes": ("/apis/gpupool.dev/v1alpha1", False), "daemonsets": ("/apis/apps/v1", True),
    "resourcequotas": ("/api/v1", True), "limitranges": ("/api/v1", True),
    "clusterroles": ("/apis/rbac.authorization.k8s.io/v1", False),
    "clusterrolebindings": ("/apis/rbac.authorization.k8s.io/v1", False),
}

CONNECTION_ERRORS = (OSError, http.client.HTTPException)  # the server is away, or has ended a connection
Object = dict[str, Any]  # a Kubernetes object, or a part of one


class ApiError(Exception):
    def __init__(self, code: int, body: Any, request: str) -> None:
        self.code = code
        self.message = body.get("message", "") if isinstance(body, dict) else str(body)
        super().__init__(f"{request}: {code} {self.message}")


def read_kubeconfig(path: str, kubectl: str) -> Object:
    with open(path, encoding="utf-8") as source:
        text = source.read()
    if text.lstrip().startswith("{"):
        return json.loads(text)
    shown = subprocess.run([kubectl, "--kubeconfig", path, "config", "view", "--raw", "-o", "json"],
                           capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)


class Api:
    """For several threads: each has a connection of its own, kept alive."""

    def __init__(self, kubeconfig: str) -> None:
        self.path = kubeconfig
        self.config = read_kubeconfig(kubeconfig, kubectl_program())
        cluster = self.config["clusters"][0]["cluster"]
        address = urllib.parse.urlsplit(cluster["server"])
        self._host, self._port = address.hostname or "", address.port or 443
        self._token = self.config["users"][0]["user"]["token"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)
        self._local = threading.local()

    def call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """Decoded JSON, or text; ApiError from 400 on."""
        headers = {"Authorization": "Bearer " + self._token, "Content-Type": content_type}
        code, text = self._send(method, path, None if body is None else json.dumps(body), headers)
        answer = json.loads(text) if text.startswith(("{", "[")) else text
        if code >= 400:
            raise ApiError(code, answer, f"{method} {path}")
        return answer

    def _send(self, method: str, path: str, data: str | None, headers: dict[str, str]) -> tuple[int, str]:
        for fresh in (False, True):
            connection = getattr(self._local, "connection", None)
            if connection is None or fresh:
                connection = http.client.HTTPSConnection(self._host, self._port, timeout=30, context=self._tls)
                self._local.connection = connection
            try:
                connection.request(method, path, data, headers)
                response = connection.getresponse()
                return response.status, response.read().decode(errors="replace")
            except CONNECTION_ERRORS as error:
                # The server closes a connection that was idle; the second try has a new one.
                connection.close()
                if fresh:
                    raise ConnectionError(f"{method} {path}: {error!r}") from error
        raise AssertionError("unreachable")

    def open(self, path: str) -> tuple[http.client.HTTPSConnection, http.client.HTTPResponse]:
        """A connection of its own and its response, unread: for watches."""
        connection = http.client.HTTPSConnection(self._host, self._port, timeout=900, context=self._tls)
        connection.request("GET", path, headers={"Authorization": "Bearer " + self._token})
        response = connection.getresponse()
        if response.status != 200:
            raise ApiError(response.status, response.read().decode(), path)
        return connection, response

    @staticmethod
    def url(kind: str, namespace: str | None = None, name: str | None = None, sub: str | None = None,
            **query: Any) -> str:
        base, namespaced = KINDS[kind]
        path = base + (f"/namespaces/{namespace}" if namespaced and namespace else "") + "/" + kind
        path += "".join("/" + part for part in (name, sub) if part)
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object:
        return self.call("GET", self.url(kind, namespace, name))

    def find(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """None if there is no such object."""
        try:
            return self.get(kind, name, namespace)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(self, kind: str, namespace: str | None = None, **query: Any) -> "builtins.list[Object]":
        return self.call("GET", self.url(kind, namespace, **query))["items"]

    def create(self, kind: str, body: Object, **query: Any) -> Object:
        return self.call("POST", self.url(kind, body["metadata"].get("namespace"), **query), body)

    def delete(self, kind: str, name: str, namespace: str | None = None, missing_ok: bool = True,
               **options: Any) -> Object | None:
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", **options}
        try:
            return self.call("DELETE", self.url(kind, namespace, name), body)
        except ApiError as error:
            if error.code == 404 and missing_ok:
                return None
            raise

    def patch(self, kind: str, name: str, change: Any, namespace: str | None = None, sub: str | None = None) -> Object:
        """A list is a JSON patch, everything else a merge patch."""
        how = JSON_PATCH if isinstance(change, list) else MERGE_PATCH
        return self.call("PATCH", self.url(kind, namespace, name, sub), change, how)

    def replace(self, kind: str, name: str, body: Object, namespace: str | None = None) -> Object:
        return self.call("PUT", self.url(kind, namespace, name), body)

    def log(self, pod: str, container: str, namespace: str, previous: bool = False) -> str:
        query = {"container": container, "previous": "true" if previous else "false"}
        return str(self.call("GET", self.url("pods", namespace, pod, "log", **query)))

    def minor(self) -> int:
        return int("".join(filter(str.isdigit, self.call("GET", "/version")["minor"])))
