# SPDX-License-Identifier: Apache-2.0
"""A software bill of materials in SPDX 2.3: the Debian packages of which parts are in an image."""

import functools
import hashlib
import json
import os
import subprocess
from typing import Any, Iterable

# Linked into the programs instead of lying beside them: packages that hold the archives, by program.
LINKED = {
    "gpupool-device-plugin": ["libgrpc++-dev", "libgrpc-dev", "libprotobuf-dev", "libabsl-dev", "libre2-dev",
                              "libc-ares-dev", "libgcc-12-dev", "libc6-dev", "nlohmann-json3-dev", "libsimdjson-dev",
                              "libcli11-dev", "libexpected-dev"],
    "gpupool-operator": ["nlohmann-json3-dev", "libsimdjson-dev", "libcli11-dev", "libexpected-dev", "libgcc-12-dev",
                         "libc6-dev"],
    "gpupool-preflight": ["nlohmann-json3-dev", "libsimdjson-dev", "libcli11-dev", "libexpected-dev", "libtomlplusplus-dev",
                          "libgcc-12-dev", "libc6-dev"],
    "gpupool-carry": ["nlohmann-json3-dev", "libsimdjson-dev", "libcli11-dev", "libexpected-dev", "libgcc-12-dev", "libc6-dev"],
    "gpupool-web": ["nlohmann-json3-dev", "libsimdjson-dev", "libcli11-dev", "libexpected-dev", "libgcc-12-dev", "libc6-dev"],
    "gpupool-keeper": ["nlohmann-json3-dev", "libsimdjson-dev", "libcli11-dev", "libexpected-dev", "libgcc-12-dev", "libc6-dev"],
    "gpupool-ledger": ["nlohmann-json3-dev", "libsimdjson-dev", "libcli11-dev", "libexpected-dev", "libgcc-12-dev", "libc6-dev"],
    "gpupool-launch": ["libstdc++-12-dev", "libgcc-12-dev", "libc6-dev"],
}


def packages_of(paths: Iterable[str]) -> Any:
    """{package: [path]} of files that dpkg installed; a path that no package owns is an error."""
    names = {path: _names(path) for path in sorted(set(paths))}
    done = subprocess.run(["dpkg-query", "-S", *sorted({name for each in names.values() for name in each})],
                          capture_output=True, text=True, check=False)  # fails when it does not know one of the names
    owners = {}
    for line in done.stdout.splitlines():
        packages, _, name = line.partition(": ")
        owners[name] = packages.split(",")[0].split(":")[0]
    found = {}
    for path, known in names.items():
        owner = next((owners[name] for name in known if name in owners), None)
        if owner is None:
            raise RuntimeError(f"no Debian package owns {path}")
        found.setdefault(owner, []).append(path)
    return found


def _names(path: str) -> list[Any]:
    # Libraries are named below /lib, which is a link to /usr/lib; dpkg knows them by one of both names.
    real = os.path.realpath(path)
    return [real, path, real.removeprefix("/usr"), "/usr" + path]


def linked(program: str) -> list[Any]:
    return [name for name in LINKED[program] if _field(name, "db:Status-Status") == "installed"]


@functools.cache
def _fields(package: str) -> dict[str, Any]:
    """{field: value}; empty for what dpkg does not know."""
    names = ("db:Status-Status", "Version", "source:Package")
    done = subprocess.run(["dpkg-query", "-W", "-f=" + "".join(f"${{{name}}}\\n" for name in names), package],
                          capture_output=True, text=True, check=False)
    return dict(zip(names, done.stdout.splitlines()))


def _field(package: str, name: str) -> Any:
    return _fields(package).get(name, "")


def _package(package: str) -> dict[str, Any]:
    version, source = _field(package, "Version"), _field(package, "source:Package")
    return {
        "SPDXID": "SPDXRef-" + "".join(c if c.isalnum() or c in ".-" else "-" for c in package), "name": package,
        "versionInfo": version, "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False, "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION", "sourceInfo": f"built from Debian's source package {source}",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{package.replace('+', '%2B')}@{version}?distro=bookworm"}]}


def document(image: str, digest: str, version: str, shared: Any, static: set[str]) -> dict[str, Any]:
    """shared, static: names of packages. The same image always has the same document."""
    name = image.rpartition("/")[2].replace(":", "-")
    ours = {"SPDXID": "SPDXRef-image", "name": image, "versionInfo": version, "supplier": "Organization: gpupool",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": "Apache-2.0",
            "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION", "primaryPackagePurpose": "CONTAINER",
            "checksums": [{"algorithm": "SHA256", "checksumValue": digest.removeprefix("sha256:")}]}
    parts = [_package(package) for package in sorted(set(shared) | set(static))]
    kinds = [(part["SPDXID"], "DYNAMIC_LINK" if part["name"] in shared else "STATIC_LINK") for part in parts]
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"https://gpupool.dev/spdx/{name}-{hashlib.sha256(digest.encode()).hexdigest()[:16]}",
        "creationInfo": {"created": "1970-01-01T00:00:00Z", "creators": ["Tool: gpupool-deploy-images"]},
        "packages": [ours, *parts],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-image"},
            *({"spdxElementId": "SPDXRef-image", "relationshipType": kind, "relatedSpdxElement": spdx_id}
              for spdx_id, kind in kinds)]}


def write(path: str, *arguments: Any) -> None:
    with open(path, "w", encoding="utf-8") as out:
        json.dump(document(*arguments), out, indent=1, sort_keys=True)
        out.write("\n")
