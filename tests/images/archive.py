"""Writes an image archive (the docker save format, one layer) whose bytes depend on its contents alone."""

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

    def add_file(self, path, source):
        """Copies what `source` points to; reads it when the archive is written."""
        info = os.stat(source)
        header = self._header(path, tarfile.REGTYPE, stat.S_IMODE(info.st_mode))
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
        self._stream, self.sha256 = stream, hashlib.sha256()

    def write(self, data):
        self.sha256.update(data)
        return self._stream.write(data)

    def tell(self):
        return self._stream.tell()


def write_image(out, name, layer, config):
    """Writes the archive to the path `out`, whole or not at all. `config` is an image config such as {"Cmd": [...]}."""
    folder = os.path.dirname(os.path.abspath(out))
    with tempfile.NamedTemporaryFile(dir=folder, prefix=TEMPORARY) as layer_file:
        hashing = _Hashing(layer_file)
        layer.write(hashing)
        size = layer_file.tell()
        layer_file.seek(0)
        image = json.dumps({
            "architecture": "amd64", "os": "linux", "created": "1970-01-01T00:00:00Z", "config": config,
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashing.sha256.hexdigest()]},
        }, sort_keys=True).encode()
        image_name = hashlib.sha256(image).hexdigest() + ".json"
        manifest = json.dumps([{"Config": image_name, "RepoTags": [name], "Layers": ["layer.tar"]}]).encode()
        with tempfile.NamedTemporaryFile(dir=folder, prefix=TEMPORARY, delete=False) as whole:
            try:
                with tarfile.open(fileobj=whole, mode="w", format=tarfile.GNU_FORMAT) as tar:
                    for part, data, length in ((image_name, io.BytesIO(image), len(image)),
                                               ("manifest.json", io.BytesIO(manifest), len(manifest)),
                                               ("layer.tar", layer_file, size)):
                        header = tarfile.TarInfo(part)
                        header.size, header.mode = length, 0o644
                        tar.addfile(header, data)
                os.chmod(whole.name, 0o644)
                os.rename(whole.name, out)
            except BaseException:
                os.unlink(whole.name)
                raise
