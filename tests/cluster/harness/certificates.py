# SPDX-License-Identifier: Apache-2.0
"""One certificate authority for each cluster, and what it signs."""

import datetime
import os
import subprocess
import tempfile
from typing import Sequence

from tests.cluster.harness.errors import ClusterError
from tests.cluster.harness.network import Addresses
from tests.cluster.harness.state import State


def _openssl(*arguments: str) -> None:
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"openssl {arguments[0]}: {done.stderr.strip()}")


def _key(path: str) -> None:
    _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    os.chmod(path, 0o600)


# A database for each certificate: nodes are signed side by side.
CONFIG = """[ca]
default_ca = cluster
[cluster]
database = {work}/index
new_certs_dir = {work}
rand_serial = yes
default_md = sha256
policy = names
x509_extensions = extensions
[names]
commonName = supplied
organizationName = optional
[extensions]
{extensions}
"""


def create_authority(folder: str) -> None:
    _certify(folder, "ca", "/CN=gpupool-test-ca",
             ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,digitalSignature"], "-selfsign")


def sign(folder: str, name: str, subject: str, alternatives: Sequence[str] = ()) -> None:
    """Writes NAME.key and NAME.crt. With `alternatives` (DNS:x, IP:y) it can serve too."""
    extensions = ["basicConstraints=CA:FALSE", "keyUsage=digitalSignature",
                  "extendedKeyUsage=clientAuth" + (",serverAuth" if alternatives else "")]
    if alternatives:
        extensions.append("subjectAltName=" + ",".join(alternatives))
    _certify(folder, name, subject, extensions, "-cert", f"{folder}/ca.crt")


def _certify(folder: str, name: str, subject: str, extensions: list[str], *signer: str) -> None:
    """Valid since yesterday: a client whose clock is slow is to reach the server, as it reaches one that is not new."""
    _key(f"{folder}/{name}.key")
    now = datetime.datetime.now(datetime.timezone.utc)
    since, until = (f"{now + datetime.timedelta(days=days):%Y%m%d%H%M%SZ}" for days in (-1, 30))
    with tempfile.TemporaryDirectory() as work:
        _write(f"{work}/index", "")
        _write(f"{work}/config", CONFIG.format(work=work, extensions="\n".join(extensions)))
        _openssl("req", "-new", "-key", f"{folder}/{name}.key", "-subj", subject, "-out", f"{work}/request")
        _openssl("ca", "-batch", "-notext", "-config", f"{work}/config", "-keyfile", f"{folder}/ca.key", *signer,
                 "-startdate", since, "-enddate", until, "-in", f"{work}/request", "-out", f"{folder}/{name}.crt")


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def create_all(state: State, addresses: Addresses) -> None:
    folder = state.path("pki")
    create_authority(folder)
    sign(folder, "apiserver", "/CN=kube-apiserver",
         ("DNS:localhost", "DNS:kubernetes", "DNS:kubernetes.default", "DNS:kubernetes.default.svc",
          "DNS:kubernetes.default.svc.cluster.local", "IP:127.0.0.1", f"IP:{addresses.hub}",
          f"IP:{addresses.uplink}", f"IP:{addresses.api_service}"))
    sign(folder, "admin", "/O=system:masters/CN=admin")
    _key(f"{folder}/service-account.key")
