"""One certificate authority for each cluster, and what it signs."""

import os
import subprocess

from .errors import ClusterError


def _openssl(*arguments):
    done = subprocess.run(["openssl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ClusterError(f"openssl {arguments[0]}: {done.stderr.strip()}")


def _key(path):
    _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path)
    os.chmod(path, 0o600)


def create_authority(folder):
    _key(f"{folder}/ca.key")
    _openssl("req", "-x509", "-new", "-key", f"{folder}/ca.key", "-subj", "/CN=gpupool-test-ca", "-days", "30",
             "-addext", "keyUsage=critical,keyCertSign,digitalSignature", "-out", f"{folder}/ca.crt")


def sign(folder, name, subject, alternatives=()):
    """Writes NAME.key and NAME.crt. With `alternatives` (DNS:x, IP:y) it can serve too."""
    _key(f"{folder}/{name}.key")
    _openssl("req", "-new", "-key", f"{folder}/{name}.key", "-subj", subject, "-out", f"{folder}/{name}.csr")
    extensions = ["basicConstraints=CA:FALSE", "keyUsage=digitalSignature",
                  "extendedKeyUsage=clientAuth" + (",serverAuth" if alternatives else "")]
    if alternatives:
        extensions.append("subjectAltName=" + ",".join(alternatives))
    with open(f"{folder}/{name}.ext", "w", encoding="utf-8") as out:
        out.write("\n".join(extensions) + "\n")
    _openssl("x509", "-req", "-in", f"{folder}/{name}.csr", "-CA", f"{folder}/ca.crt", "-CAkey", f"{folder}/ca.key",
             "-set_serial", str(int.from_bytes(os.urandom(8), "big")), "-days", "30", "-sha256",
             "-extfile", f"{folder}/{name}.ext", "-out", f"{folder}/{name}.crt")
    for suffix in ("csr", "ext"):
        os.unlink(f"{folder}/{name}.{suffix}")


def create_all(state, addresses):
    folder = state.path("pki")
    create_authority(folder)
    sign(folder, "apiserver", "/CN=kube-apiserver",
         ("DNS:localhost", "DNS:kubernetes", "DNS:kubernetes.default", "DNS:kubernetes.default.svc",
          "DNS:kubernetes.default.svc.cluster.local", "IP:127.0.0.1", f"IP:{addresses.hub}",
          f"IP:{addresses.uplink}", f"IP:{addresses.api_service}"))
    sign(folder, "admin", "/O=system:masters/CN=admin")
    _key(f"{folder}/service-account.key")
