# SPDX-License-Identifier: Apache-2.0
"""Which images there are, and how each is made from what was built."""

import contextlib
import os
import re
import tarfile
import tempfile
from typing import Any, Iterator

from deploy.images import program, sbom
from deploy.images.archive import write_image

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# image: the programs in it; it runs the first
IMAGES = {"operator": ["gpupool-operator", "gpupool-launch"],
          "device-plugin": ["gpupool-device-plugin", "gpupool-preflight"],
          "carry": ["gpupool-carry"],
          "web": ["gpupool-web"], "keeper": ["gpupool-keeper"],
          "ledger": ["gpupool-ledger"]}
# image: libraries that only the driver's library needs, which comes from the machine
LOADED = {"device-plugin": ["libdl.so.2", "libpthread.so.0", "librt.so.1"]}
# image: libraries of ours, in OURS_IN; programs in other containers load them
OURS = {"device-plugin": ["libgpupool-vgpu.so", "libgpupool-vgpu-alias.so", "libgpupool-vgpu-nvml.so"]}
OURS_IN = "usr/lib/gpupool-vgpu"
# image: {path in the image: (path here, the Debian package that made it)}. carry talks to any server of a user, and reads names
# in UTF-8 from zip files.
FILES = {"carry": {"etc/ssl/certs/ca-certificates.crt": ("/etc/ssl/certs/ca-certificates.crt", "ca-certificates"),
                   "usr/lib/locale/C.utf8/LC_CTYPE": ("/usr/lib/locale/C.utf8/LC_CTYPE", "libc-bin")}}


def version() -> Any:
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as lists:
        found = re.search(r"project\(gpupool VERSION (\S+)", lists.read())
    if not found:
        raise RuntimeError("CMakeLists.txt names no version")
    return found[1]


def build_folder() -> str:
    return os.environ.get("BUILD_DIR") or os.path.join(ROOT, "build")


def binaries(image: str) -> list[str]:
    return [os.path.join(build_folder(), "bin", name) for name in IMAGES[image]]


def ours(image: str) -> list[str]:
    return [os.path.join(build_folder(), "lib", "gpupool-vgpu", name) for name in OURS.get(image, [])]


def libraries(image: str) -> dict[str, Any]:
    """{path in the image: path here}"""
    found = {inside: path for binary in binaries(image) for inside, path in program.libraries(binary).items()}
    folder = os.path.dirname(next(path for path in found.values() if path.endswith("/libc.so.6")))
    loaded = [os.path.join(folder, name) for name in LOADED.get(image, [])]
    return {**found, **{path.lstrip("/"): path for path in loaded}}


def inputs(image: str) -> list[Any]:
    """Paths of all that decides what the image contains."""
    return sorted({*binaries(image), *ours(image), *libraries(image).values(), *(path for path, _ in FILES.get(image, {}).values())})


class Image:
    """Raises FileNotFoundError if its programs have not been built."""

    def __init__(self, image: str, tag: str) -> None:
        self.name, self._image = f"gpupool.dev/{image}:{tag}", image
        self._binaries, self._ours = binaries(image), ours(image)
        for path in [*self._binaries, *self._ours]:
            if not os.access(path, os.X_OK):
                raise FileNotFoundError(f"{path} is missing: run `make build` first, or set BUILD_DIR")
        self._libraries = libraries(image)
        self._files = {inside: path for inside, (path, _) in FILES.get(image, {}).items()}
        self._shared = {*sbom.packages_of(self._libraries.values()), *(package for _, package in FILES.get(image, {}).values())}
        self._static = {package for name in IMAGES[image] for package in sbom.linked(name)}
        self.digest, self.unpacked = "", 0

    def write(self, out: str, compress: bool) -> None:
        with self._layer() as (layer, config):
            self.digest, self.unpacked = write_image(out, self.name, layer, config, compress), layer.size()

    def unpack(self, folder: str) -> None:
        """Its files, for a Dockerfile."""
        with self._layer() as (layer, _), tempfile.TemporaryFile() as packed:
            layer.write(packed)
            packed.seek(0)
            with tarfile.open(fileobj=packed) as tar:
                tar.extractall(folder)

    @contextlib.contextmanager
    def _layer(self) -> Iterator[Any]:
        labels = {"org.opencontainers.image.title": "gpupool-" + self._image,
                  "org.opencontainers.image.version": version(), "org.opencontainers.image.licenses": "Apache-2.0"}
        with tempfile.TemporaryDirectory() as scratch:
            own = {f"{OURS_IN}/{os.path.basename(path)}": program.stripped(path, scratch, 0o644) for path in self._ours}
            yield program.program_image([program.stripped(path, scratch) for path in self._binaries],
                                        {**self._libraries, **self._files, **own}, sorted(self._shared | self._static), labels)

    def write_sbom(self, out: str) -> None:
        """After write()."""
        sbom.write(out, self.name, self.digest, version(), self._shared, self._static)
