"""Writes an image archive whose bytes depend on its contents alone: an OCI layout that `docker load` reads as well."""

import gzip
import hashlib
import io
import json
import os
import stat
import tarfile
import tempfile

TEMPORARY = ".image-"  # prefix of files that only a killed writer leaves


class Layer:
    """Files of an image by path, without leading slash. Parents are added by themselves."""

    def __init__(self):
        self._entries = {}

    def add_bytes(self, path, data, mode=0o644):
        self._put(path, self._header(path, tarfile.REGTYPE, mode), data)

    def add_file(self, path, source, mode=None):
        """Copies what `source` points to; reads it when the archive is written."""
        info = os.stat(source)
        header = self._header(path, tarfile.REGTYPE, stat.S_IMODE(info.st_mode) if mode is None else mode)
        header.size = info.st_size
        self._put(path, header, source)

    def add_link(self, path, target):
        header = self._header(path, tarfile.SYMTYPE, 0o777)
        header.linkname = target
        self._put(path, header, None)

    def add_directory(self, path, mode=0o755):
        self._put(path, self._header(path, tarfile.DIRTYPE, mode), None)

    def add_tree(self, path, source, skip=lambda name: False):
        for folder, folders, files in os.walk(source):
            folders[:] = sorted(name for name in folders if not skip(name))
            for name in sorted(files):
                full = os.path.join(folder, name)
                if not skip(name) and os.path.exists(full):
                    self.add_file(os.path.join(path, os.path.relpath(full, source)), full)

    def size(self):
        """Bytes of all files."""
        return sum(header.size for header, _ in self._entries.values())

    def write(self, stream):
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

    def _put(self, path, header, content):
        parent = os.path.dirname(path)
        if parent and parent not in self._entries:
            self.add_directory(parent)
        if isinstance(content, bytes):
            header.size = len(content)
        self._entries[path] = (header, content)

    @staticmethod
    def _header(path, kind, mode):
        header = tarfile.TarInfo(path)
        header.type, header.mode, header.mtime = kind, mode, 0
        return header


class _Hashing:
    def __init__(self, stream):
        self._stream, self.sha256, self.size = stream, hashlib.sha256(), 0

    def write(self, data):
        self.sha256.update(data)
        self.size += len(data)
        return self._stream.write(data)

    def tell(self):
        return self.size

    def flush(self):
        self._stream.flush()


class _Blobs:
    """The content-addressed files of a layout."""

    def __init__(self, tar):
        self._tar = tar

    def add(self, media_type, stream, digest, size):
        self.put("blobs/sha256/" + digest, stream, size)
        return {"mediaType": "application/vnd.oci.image." + media_type, "digest": "sha256:" + digest, "size": size}

    def add_json(self, media_type, value):
        data = _json(value)
        return self.add(media_type, io.BytesIO(data), hashlib.sha256(data).hexdigest(), len(data))

    def put(self, path, stream, size):
        header = tarfile.TarInfo(path)
        header.size, header.mode = size, 0o644
        self._tar.addfile(header, stream)


def _json(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _write_layer(layer, stream, compress):
    """(digest of the bytes in the stream, their size, digest of the tar)"""
    packed = _Hashing(stream)
    if not compress:
        layer.write(packed)
        return packed.sha256.hexdigest(), packed.size, packed.sha256.hexdigest()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as zipped:
        plain = _Hashing(zipped)
        layer.write(plain)
    return packed.sha256.hexdigest(), packed.size, plain.sha256.hexdigest()


def write_image(out, name, layer, config, compress=False):
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


def _write_layout(blobs, name, layer, config, compress):
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


def _path(descriptor):
    return "blobs/" + descriptor["digest"].replace(":", "/")
