# SPDX-License-Identifier: Apache-2.0
"""Certificates that are signed by themselves."""

import subprocess


def make_certificate(folder: str, name: str, alternative: str) -> None:
    """tls.crt and tls.key in the folder. alternative: such as IP:127.0.0.1 or DNS:page.example.com."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", f"subjectAltName={alternative}", "-keyout", f"{folder}/tls.key",
                    "-out", f"{folder}/tls.crt"], check=True, capture_output=True)
