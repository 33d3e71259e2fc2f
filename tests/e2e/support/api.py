"""The API server over HTTP with a kubeconfig's token and CA: a request takes milliseconds, a kubectl half a second."""

import base64
import http.client
import json
import os
import ssl
import subprocess
import threading
import urllib.parse

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"

# kind -> (API, plural, namespaced)
KINDS = {
    "nodes": ("/api/v1", False), "pods": ("/api/v1", True), "services": ("/api/v1", True),
    "namespaces": ("/api/v1", False), "configmaps": ("/api/v1", True), "serviceaccounts": ("/api/v1", True),
    "jobs": ("/apis/batch/v1", True), "statefulsets": ("/apis/apps/v1", True),
    "events": ("/apis/events.k8s.io/v1", True), "leases": ("/apis/coordination.k8s.io/v1", True),
    "gpujobs": ("/apis/gpupool.dev/v1alpha1", True), "gpupools": ("/apis/gpupool.dev/v1alpha1", False),
    "gpunodes": ("/apis/gpupool.dev/v1alpha1", False), "daemonsets": ("/apis/apps/v1", True),
    "resourcequotas": ("/api/v1", True), "limitranges": ("/api/v1", True),
    "clusterroles": ("/apis/rbac.authorization.k8s.io/v1", False),
    "clusterrolebindings": ("/apis/rbac.authorization.k8s.io/v1", False),
}


class ApiError(Exception):
    def __init__(self, code, body, request):
        self.code = code
        self.message = body.get("message", "") if isinstance(body, dict) else str(body)
        super().__init__(f"{request}: {code} {self.message}")


def read_kubeconfig(path):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    if text.lstrip().startswith("{"):
        return json.loads(text)
    shown = subprocess.run([os.environ.get("KUBECTL") or "kubectl", "--kubeconfig", path, "config", "view", "--raw",
                            "-o", "json"], capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)


class Api:
    """For several threads: each has a connection of its own, kept alive."""

    def __init__(self, kubeconfig):
        self.path = kubeconfig
        self.config = read_kubeconfig(kubeconfig)
        cluster = self.config["clusters"][0]["cluster"]
        address = urllib.parse.urlsplit(cluster["server"])
        self._host, self._port = address.hostname, address.port or 443
        self._token = self.config["users"][0]["user"]["token"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._tls = ssl.create_default_context(cadata=authority)
        self._local = threading.local()

    def call(self, method, path, body=None, content_type="application/json"):
        """Decoded JSON, or text; ApiError from 400 on."""
        headers = {"Authorization": "Bearer " + self._token, "Content-Type": content_type}
        code, text = self._send(method, path, None if body is None else json.dumps(body), headers)
        answer = json.loads(text) if text.startswith(("{", "[")) else text
        if code >= 400:
            raise ApiError(code, answer, f"{method} {path}")
        return answer

    def _send(self, method, path, data, headers):
        for fresh in (False, True):
            connection = getattr(self._local, "connection", None)
            if connection is None or fresh:
                connection = http.client.HTTPSConnection(self._host, self._port, timeout=30, context=self._tls)
                self._local.connection = connection
            try:
                connection.request(method, path, data, headers)
                response = connection.getresponse()
                return response.status, response.read().decode(errors="replace")
            except (http.client.HTTPException, OSError) as error:
                # The server closes a connection that was idle; the second try has a new one.
                connection.close()
                if fresh:
                    raise ConnectionError(f"{method} {path}: {error!r}") from error
        raise AssertionError("unreachable")

    def open(self, path):
        """A connection of its own and its response, unread: for watches."""
        connection = http.client.HTTPSConnection(self._host, self._port, timeout=900, context=self._tls)
        connection.request("GET", path, headers={"Authorization": "Bearer " + self._token})
        response = connection.getresponse()
        if response.status != 200:
            raise ApiError(response.status, response.read().decode(), path)
        return connection, response

    @staticmethod
    def url(kind, namespace=None, name=None, sub=None, **query):
        base, namespaced = KINDS[kind]
        path = base + (f"/namespaces/{namespace}" if namespaced and namespace else "") + "/" + kind
        path += "".join("/" + part for part in (name, sub) if part)
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def get(self, kind, name, namespace=None):
        return self.call("GET", self.url(kind, namespace, name))

    def find(self, kind, name, namespace=None):
        """None if there is no such object."""
        try:
            return self.get(kind, name, namespace)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def list(self, kind, namespace=None, **query):
        return self.call("GET", self.url(kind, namespace, **query))["items"]

    def create(self, kind, body, **query):
        return self.call("POST", self.url(kind, body["metadata"].get("namespace"), **query), body)

    def delete(self, kind, name, namespace=None, missing_ok=True, **options):
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background", **options}
        try:
            return self.call("DELETE", self.url(kind, namespace, name), body)
        except ApiError as error:
            if error.code == 404 and missing_ok:
                return None
            raise

    def patch(self, kind, name, change, namespace=None, sub=None):
        """A list is a JSON patch, everything else a merge patch."""
        how = JSON_PATCH if isinstance(change, list) else MERGE_PATCH
        return self.call("PATCH", self.url(kind, namespace, name, sub), change, how)

    def replace(self, kind, name, body, namespace=None):
        return self.call("PUT", self.url(kind, namespace, name), body)

    def log(self, pod, container, namespace, previous=False):
        query = {"container": container, "previous": "true" if previous else "false"}
        return str(self.call("GET", self.url("pods", namespace, pod, "log", **query)))

    def minor(self):
        return int("".join(filter(str.isdigit, self.call("GET", "/version")["minor"])))
