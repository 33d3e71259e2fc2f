# SPDX-License-Identifier: Apache-2.0
"""HTTP servers that play an API server, a kubelet or a service proxy, on 127.0.0.1."""

import http.server
import json
import os
import ssl
import subprocess
import sys
import threading
from email.utils import formatdate

POOLS = "/apis/gpupool.dev/v1alpha1/gpupools"


# What RBAC says to somebody without a rule.
FORBIDDEN = ('gpupools.gpupool.dev is forbidden: User "owner" cannot list resource "gpupools" in API group "gpupool.dev" at '
             "the cluster scope")


def status(code, reason, message=""):
    return code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message or reason.lower(),
                  "reason": reason, "code": code}


class Server:
    """Use as a context. answers: {path without query: (code, JSON) or code}; the rest is a bare 404."""

    def __init__(self, answers, port=0, date=None, certificate=None):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                outer.seen.append((self.path, self.headers.get("Authorization")))
                code, body = outer.answer(self.path.split("?")[0])
                self.send_response_only(code)
                self.send_header("Date", formatdate(outer.date(), usegmt=True))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.answers, self.seen, self._date = answers, [], date
        class Listener(http.server.ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                if not isinstance(sys.exc_info()[1], ConnectionError):  # who asks only for an answer hangs up
                    super().handle_error(request, client_address)

        self._http = Listener(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)
            self.url = self.url.replace("http:", "https:")
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def date(self):
        return self._date() if self._date else None

    def answer(self, path):
        found = self.answers.get(path, 404)
        code, body = found if isinstance(found, tuple) else (found, None)
        return code, b"404 page not found\n" if body is None else json.dumps(body).encode()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


def api_server(pools=(), **options):
    """With these GpuPools."""
    items = {pool["metadata"]["name"]: pool for pool in pools}
    answers = {"/version": (200, {"gitVersion": "v1.30.2"}),
               POOLS: (200, {"kind": "GpuPoolList", "metadata": {"resourceVersion": "1"}, "items": list(items.values())})}
    answers |= {f"{POOLS}/{name}": (200, pool) for name, pool in items.items()}
    return Server(answers, **options)


def pool(name, **spec):
    return {"apiVersion": "gpupool.dev/v1alpha1", "kind": "GpuPool", "metadata": {"name": name}, "spec": spec}


def kubeconfig(folder, url, **cluster):
    """Its path. JSON is YAML."""
    path = os.path.join(folder, "kubeconfig")
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "lab",
                   "clusters": [{"name": "lab", "cluster": {"server": url, **cluster}}],
                   "users": [{"name": "owner", "user": {"token": "secret"}}],
                   "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "owner"}}]}, out)
    return path


def certificate(folder):
    """(certificate, key) of 127.0.0.1, signed by itself."""
    pair = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-out", pair[0], "-keyout", pair[1]],
                   check=True, capture_output=True)
    return pair
