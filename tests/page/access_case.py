# SPDX-License-Identifier: Apache-2.0
"""gpupool-web on a real API server, with users who have tokens."""

import base64
import http.client
import os
import re
import ssl
import subprocess
import tempfile
import uuid
from typing import Any

from tests.kit import deploy
from tests.kit.api import Api
from tests.kit.certificate import make_certificate
from tests.kit.kubectl import apply_objects
from tests.kit.manifests import job_manifest, pool_manifest, sweep_manifest
from tests.kit.paths import program
from tests.kit.readers import token_of
from tests.kit.waiting import wait_for
from tests.page.page_case import PageCase

RBAC = "/apis/rbac.authorization.k8s.io/v1"


class WebServer:
    """gpupool-web as a process, by TLS on a free port of 127.0.0.1."""

    def __init__(self, api: Api, *flags: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gpupool-web-")
        folder = self._folder.name
        make_certificate(folder, "page", "IP:127.0.0.1")
        cluster = api.config["clusters"][0]["cluster"]
        with open(f"{folder}/ca.crt", "wb") as target:
            target.write(base64.b64decode(cluster["certificate-authority-data"]))
        self.log_path = f"{folder}/log"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [program("gpupool-web"), "--bind-address", "127.0.0.1:0", "--health-bind-address", "127.0.0.1:0", "--tls-directory", folder,
                 "--api-server", cluster["server"], "--api-ca", f"{folder}/ca.crt", "--host", "127.0.0.1", *flags],
                stderr=log, env={k: v for k, v in os.environ.items() if not k.startswith("KUBE")})
        self.certificate = f"{folder}/tls.crt"
        found: list[str] = wait_for("gpupool-web", lambda: re.findall(r'"port":(\d+)', self.log()))
        self.port = int(found[-1])
        self.url = f"https://127.0.0.1:{self.port}/"

    def log(self) -> str:
        with open(self.log_path, encoding="utf-8") as source:
            return source.read()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        self._folder.cleanup()


class AccessCase(PageCase):
    kubeconfig: str  # set by tests/page/run
    api: Api
    server: WebServer
    mark: str  # begins the names of what these tests make
    ours: str  # a namespace
    theirs: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.api = Api(cls.kubeconfig)
        cls.mark = f"page-{uuid.uuid4().hex[:8]}"
        cls.ours, cls.theirs = f"{cls.mark}-ours", f"{cls.mark}-theirs"
        apply_objects(cls.kubeconfig, deploy.objects("users"))
        for ns in (cls.ours, cls.theirs):
            cls.api.create("namespaces", {"metadata": {"name": ns}})
            cls.addClassCleanup(cls.api.delete, "namespaces", ns)
            cls.api.create("gpujobs", job_manifest(f"job-of-{ns}", ns, f"{cls.mark}-pool", suspend=True))
            cls.api.create("gpusweeps", sweep_manifest(f"sweep-of-{ns}", ns, f"{cls.mark}-pool", [{"name": "x", "values": ["1"]}]))
        cls.api.create("gpupools", pool_manifest(f"{cls.mark}-pool", {cls.mark: "none"}))
        cls.addClassCleanup(cls.api.delete, "gpupools", f"{cls.mark}-pool")
        cls.api.create("gpunodes", {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuNode", "metadata": {"name": f"{cls.mark}-node"}})
        cls.addClassCleanup(cls.api.delete, "gpunodes", f"{cls.mark}-node")
        cls.server = WebServer(cls.api)
        cls.addClassCleanup(cls.server.close)

    @classmethod
    def user(cls, name: str, *roles: tuple[str, str]) -> str:
        """The token of a new user. roles: (namespace or "", ClusterRole)."""
        account = {"kind": "ServiceAccount", "name": name, "namespace": cls.ours}
        cls.api.create("serviceaccounts", {"metadata": {"name": name, "namespace": cls.ours}})
        for i, (ns, role) in enumerate(roles):
            body = {"metadata": {"name": f"{cls.mark}-{name}-{i}"}, "subjects": [account],
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}}
            path = f"{RBAC}/namespaces/{ns}/rolebindings" if ns else f"{RBAC}/clusterrolebindings"
            cls.api.call("POST", path, body)
            if not ns:
                cls.addClassCleanup(cls.api.call, "DELETE", f"{path}/{cls.mark}-{name}-{i}")
        return cls.token(name)

    @classmethod
    def token(cls, account: str) -> str:
        return token_of(cls.api, cls.ours, account)

    def may(self, account: str, verb: str, resource: str, ns: str = "") -> bool:
        """As `kubectl auth can-i --as` says."""
        group, _, plural = resource.rpartition("/")
        review = self.api.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {
            "spec": {"user": f"system:serviceaccount:{self.ours}:{account}", "groups": ["system:serviceaccounts", "system:authenticated"],
                     "resourceAttributes": {"verb": verb, "group": group, "resource": plural, "namespace": ns}}})
        return bool(review["status"]["allowed"])

    def signed_in(self, token: str, view: str = "pools", ns: str | None = None) -> Any:
        page = self.page()
        page.open(self.server.url + f"#/{view}")
        page.wait_text("Sign in", "h1")
        page.run("document.querySelector('textarea').focus()")
        page.type(token)
        page.run("document.querySelector('form button').click()")
        if ns is not None:
            page.wait("document.querySelector('header .namespace input')")
            page.run("(() => { const field = document.querySelector('header .namespace input'); "
                     f"field.value = {ns!r}; field.dispatchEvent(new Event('change', {{bubbles: true}})); }})()")
        return page

    def ask(self, method: str, path: str, body: str | None = None, **headers: str) -> tuple[int, str]:
        """A request of somebody who is no browser: (status, body)."""
        trusted = ssl.create_default_context(cafile=self.server.certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, context=trusted, timeout=60)
        try:
            connection.putrequest(method, path, skip_host="Host" in headers, skip_accept_encoding=True)
            if body is not None:
                headers.setdefault("Content-Length", str(len(body)))
            for name, value in headers.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(body.encode() if body is not None else None)
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        finally:
            connection.close()
