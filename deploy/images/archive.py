# SPDX-License-Identifier: Apache-2.0
"""Writes an image archive whose bytes depend on its contents alone: an OCI layout that `docker load` reads as well."""

import gzip
import hashlib
import io
import json
import os
import stat
import tarfile
import tempfile
from typing import Any, Callable

TEMPORARY = ".image-"  # prefix of files that only a killed writer leaves


class Layer:
    """Files of an image by path, without leading slash. Parents are added by themselves."""

    def __init__(self) -> None:
        self._entries = {}

    def add_bytes(self, path: str, data: bytes, mode: int = 0o644) -> None:
        self._put(path, self._header(path, tarfile.REGTYPE, mode), data)

    def add_file(self, path: str, source: str, mode: int | None = None) -> None:
        """Copies what `source` points to; reads it when the archive is written."""
        info = os.stat(source)
        header = self._header(path, tarfile.REGTYPE, stat.S_IMODE(info.st_mode) if mode is None else mode)
        header.size = info.st_size
        self._put(path, header, source)

    def add_link(self, path: str, target: str) -> None:
        header = self._header(path, tarfile.SYMTYPE, 0o777)
        header.linkname = target
        self._put(path, header, None)

    def add_directory(self, path: str, mode: int = 0o755) -> None:
        self._put(path, self._header(path, tarfile.DIRTYPE, mode), None)

    def add_tree(self, path: str, source: str, skip: Callable[[str], bool] = lambda name: False) -> None:
        for folder, folders, files in os.walk(source):
            folders[:] = sorted(name for name in folders if not skip(name))
            for name in sorted(files):
                full = os.path.join(folder, name)
                if not skip(name) and os.path.exists(full):
                    self.add_file(os.path.join(path, os.path.relpath(full, source)), full)

    def size(self) -> float:
        """Bytes of all files."""
        return sum(header.size for header, _ in self._entries.values())

    def write(self, stream: Any) -> None:
        with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for path in sorted(self._entries):
                header, content = self._entries[path]
                if isinstance(content, bytes):
                    tar.addfile(header, io.BytesIO(content))
                elif content is None:
                    tar.addfile(header)
                else:
                    with open(content, "rb") as source:
                        tar.addfile(header, source)

    def _put(self, path: str, header: tarfile.TarInfo, content: Any) -> None:
        parent = os.path.dirname(path)
        if parent and parent not in self._entries:
            self.add_directory(parent)
        if isinstance(content, bytes):
            header.size = len(content)
        self._entries[path] = (header, content)

    @staticmethod
    def _header(path: str, kind: bytes, mode: int) -> Any:
        header = tarfile.TarInfo(path)
        header.type, header.mode, header.mtime = kind, mode, 0
        return header


class _Hashing:
    def __init__(self, stream: Any) -> None:
        self._stream, self.sha256, self.size = stream, hashlib.sha256(), 0

    def write(self, data: bytes) -> Any:
        self.sha256.update(data)
        self.size += len(data)
        return self._stream.write(data)

    def tell(self) -> Any:
        return self.size

    def flush(self) -> None:
        self._stream.flush()


class _Blobs:
    """The content-addressed files of a layout."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar

    def add(self, media_type: str, stream: Any, digest: str, size: int) -> dict[str, Any]:
        self.put("blobs/sha256/" + digest, stream, size)
        return {"mediaType": "application/vnd.oci.image." + media_type, "digest": "sha256:" + digest, "size": size}

    def add_json(self, media_type: str, value: Any) -> Any:
        data = _json(value)
        return self.add(media_type, io.BytesIO(data), hashlib.sha256(data).hexdigest(), len(data))

    def put(self, path: str, stream: Any, size: int) -> None:
        header = tarfile.TarInfo(path)
        header.size, header.mode = size, 0o644
        self._tar.addfile(header, stream)


def _json(value: Any) -> Any:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _write_layer(layer: Layer, stream: Any, compress: bool) -> tuple[str, Any, str]:
    """(digest of the bytes in the stream, their size, digest of the tar)"""
    packed = _Hashing(stream)
    if not compress:
        layer.write(packed)
        return packed.sha256.hexdigest(), packed.size, packed.sha256.hexdigest()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as zipped:
        plain = _Hashing(zipped)
        layer.write(plain)
    return packed.sha256.hexdigest(), packed.size, plain.sha256.hexdigest()


def write_image(out: str, name: str, layer: Layer, config: dict, compress: bool = False) -> Any:
    """Writes the archive to the path `out`, whole or not at all, and returns the image's digest. `config` is an image
    config such as {"Cmd": [...]}. Compressing pays where the archive travels."""
    folder = os.path.dirname(os.path.abspath(out))
    with tempfile.NamedTemporaryFile(dir=folder, prefix=TEMPORARY) as layer_file:
        digest, size, diff_id = _write_layer(layer, layer_file, compress)
        layer_file.seek(0)
        with tempfile.NamedTemporaryFile(dir=folder, prefix=TEMPORARY, delete=False) as whole:
            try:
                with tarfile.open(fileobj=whole, mode="w", format=tarfile.GNU_FORMAT) as tar:
                    image = _write_layout(_Blobs(tar), name, (layer_file, digest, size, diff_id), config, compress)
                os.chmod(whole.name, 0o644)
                os.rename(whole.name, out)
            except BaseException:
                os.unlink(whole.name)
                raise
    return image


def _write_layout(blobs: _Blobs, name: str, layer: tuple[Any, str, int, str], config: dict, compress: bool) -> Any:
    stream, digest, size, diff_id = layer
    packed = blobs.add("layer.v1.tar" + ("+gzip" if compress else ""), stream, digest, size)
    image = blobs.add_json("config.v1+json", {
        "architecture": "amd64", "os": "linux", "created": "1970-01-01T00:00:00Z", "config": config,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + diff_id]}})
    manifest = blobs.add_json("manifest.v1+json", {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": image, "layers": [packed]})
    names = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    top = {"index.json": {"schemaVersion": 2, "manifests": [{**manifest, "annotations": names}]},
           "oci-layout": {"imageLayoutVersion": "1.0.0"},
           "manifest.json": [{"Config": _path(image), "RepoTags": [name], "Layers": [_path(packed)]}]}
    for path, value in top.items():
        blobs.put(path, io.BytesIO(_json(value)), len(_json(value)))
    return manifest["digest"]


def _path(descriptor: dict) -> str:
    return "blobs/" + descriptor["digest"].replace(":", "/")
