# SPDX-License-Identifier: Apache-2.0
"""The page as part of the release: who is served, and what somebody tries from a pod of the cluster."""

import contextlib
import http.client
import re
import ssl
import subprocess
import tempfile
from typing import Any, Iterator

from tests.install.site_under_test import Site
from tests.kit.certificate import make_certificate
from tests.kit.jobs import JobHandle
from tests.kit.manifests import job_manifest
from tests.kit.names import SYSTEM_NAMESPACE
from tests.kit.paths import kubectl_program

HOST = "gpus.example.com"
VALUES = f"""
web:
  enabled: true
  image: {{tag: dev}}
  tlsSecret: page
  hosts: [127.0.0.1, {HOST}]
"""
# From a pod, with headers that proxies in front of an API server use.
ATTACK = """
ask() { wget -q -O - --no-check-certificate --header 'Host: %s' "$@" 2>&1 | head -c 300; echo; }
ask https://%s:8443/ | grep -c '' && echo "page: answered"
ask --header 'Impersonate-User: admin' --header 'Impersonate-Group: system:masters' https://%s:8443/api/session
ask --header 'X-Remote-User: admin' https://%s:8443/api/session
wget -q -O - --no-check-certificate --header 'Host: other.example' https://%s:8443/ 2>&1 | head -c 300; echo
wget -q -O - http://%s:8443/ 2>&1 | head -c 100; echo
ls /var/run/secrets 2>&1
echo tried
"""


def check(site: Site) -> None:
    report = site.report
    before = site.values
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(folder, HOST, "IP:127.0.0.1")
        site.kubectl("-n", SYSTEM_NAMESPACE, "create", "secret", "tls", "page", f"--cert={folder}/tls.crt", f"--key={folder}/tls.key")
        site.values += VALUES
        site.helm("upgrade")
        report.eventually("the page becomes ready", lambda: site.ready("web", 1))
        (pod,) = site.pods("web")
        report.check("it runs on a node that is in no pool", pod["spec"]["nodeName"] in ("ne", "nf"), pod["spec"]["nodeName"])
        report.check("it has no token", "serviceaccount" not in str([c["volumeMounts"] for c in pod["spec"]["containers"]]), pod["spec"])
        with _forwarded(site) as port:
            trusted = ssl.create_default_context(cafile=f"{folder}/tls.crt")
            report.check("it serves the page by TLS", _ask(port, trusted, "/")[0] == 200)
            status, body = _ask(port, trusted, "/api/session")
            report.check("who has no token is asked to sign in", status == 401 and '"mode":"token"' in body, body)
            token = site.api.config["users"][0]["user"]["token"]
            status, body = _ask(port, trusted, "/api/session", Authorization=f"Bearer {token}")
            report.check("who has one is served with its rights", status == 200 and '"allNamespaces":true' in body, body)
    _attack(site, pod["status"]["podIP"])
    site.values = before
    site.helm("upgrade")
    report.eventually("without the value nothing is left of it", lambda: (
        not site.pods("web") and not site.api.find("services", "gpupool-web", SYSTEM_NAMESPACE), ""))
    site.kubectl("-n", SYSTEM_NAMESPACE, "delete", "secret", "page")


def _attack(site: Site, address: str) -> None:
    script = ATTACK % (HOST, address, address, address, address, address)
    site.api.create("gpujobs", job_manifest("attacker", "default", "shared", script, slice={"count": 1}))
    job = JobHandle(site.api, "attacker", "default")
    site.report.eventually("the attacker's job ends", lambda: (job.status().get("phase") == "Succeeded", job.show()))
    told = job.status().get("message", "")
    site.report.check("from a pod, too, nobody acts for others",
                      told.count("401") == 2 and "421" in told and "page: answered" in told and "tried" in told and "admin" not in told, told)
    job.delete()


def _ask(port: int, trusted: ssl.SSLContext, path: str, **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=trusted, timeout=60)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


@contextlib.contextmanager
def _forwarded(site: Site) -> Iterator[int]:
    """A port of this machine that leads to the Service of the page."""
    command: list[Any] = [kubectl_program(), "--kubeconfig", site.cluster.kubeconfig, "-n", SYSTEM_NAMESPACE, "port-forward", "service/gpupool-web", ":443"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            found = re.search(r"127\.0\.0\.1:(\d+)", process.stdout.readline())
            if not found:
                raise RuntimeError("kubectl port-forward names no port")
            yield int(found.group(1))
        finally:
            process.terminate()
