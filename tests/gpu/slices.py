# SPDX-License-Identifier: Apache-2.0
"""A slice of the first GPU, and programs in it.

Where mount namespaces can be made, each program has its own /etc/ld.so.preload, as in a container. Elsewhere, as in most
containers, the limits file and the region are put where the limiter looks for them, for as long as the slice lives, and the
libraries come by LD_PRELOAD.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib
from pathlib import Path
from typing import Any

from tests.gpu import region_file
from tests.gpu.outside import can_make_namespaces
from tests.limiter.container import Container, libraries

MIB = 1 << 20
CHILD_SECONDS = 500
LIMITS, REGION = Path("/etc/gpupool/limits"), Path("/run/gpupool/region")
INSIDE = str(Path(__file__).resolve().with_name("inside"))


class Child:
    """A program that says lines of JSON, and goes on after each when it is told to."""

    def __init__(self, command: list[str], env: dict[str, str]) -> None:
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.timer = threading.Timer(CHILD_SECONDS, self.process.kill)
        self.timer.start()

    def read(self) -> Any:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(("{", "[")):
                return json.loads(line)
        code = self.process.wait()
        self.errors.seek(0)
        raise RuntimeError(f"a program ended with code {code}: {self.errors.read()[-2000:].decode(errors='replace')}")

    def next(self) -> Any:
        """Lets it go on to what it says next."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.read()

    def end(self) -> int:
        """Its code. It goes on until it ends."""
        self.process.communicate("\n" * 100)
        self.timer.cancel()
        self.errors.close()
        return self.process.returncode


class Slice:
    """With `limited` false the same without a limiter: the whole GPU, for comparison."""

    def __init__(self, uuid: str, limit_mib: int, limited: bool = True, context_mib: int = 0) -> None:
        self.limit, self.limited = limit_mib * MIB, limited
        self.in_namespace = can_make_namespaces()
        self.folder = Path(tempfile.mkdtemp(prefix="gpupool-gpu-", dir="/dev/shm"))
        text = f"gpupool-limits 1\ndevice 0 {uuid} {limit_mib} - 0\n" + (f"context {context_mib}\n" if context_mib else "")
        self.limits_text = text + f"crc32 {zlib.crc32(text.encode()):08x}\n"
        self.region = self.folder / "region" if self.in_namespace else REGION
        self.made: list[Path] = []
        if limited:
            self.write(self.region, region_file.content(uuid, self.limit))
            self.region.chmod(0o666)
            if not self.in_namespace:
                self.write(LIMITS, self.limits_text.encode())

    def write(self, path: Path, content: bytes) -> None:
        if path.exists():
            raise RuntimeError(f"{path} is there already: this is a container of gpupool's, or a run that was killed")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        self.made.append(path)

    def close(self) -> None:
        for path in self.made:
            path.unlink()
        shutil.rmtree(self.folder)

    def __enter__(self) -> "Slice":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, *arguments: str) -> Child:
        """tests/gpu/inside with these arguments."""
        command = [sys.executable, INSIDE, *arguments]
        env = dict(os.environ)
        if not self.limited:
            return Child(command, env)
        if not self.in_namespace:
            return Child(command, {**env, "LD_PRELOAD": " ".join(libraries())})
        container = Container(files={str(LIMITS): self.limits_text}, run_folder=str(self.folder))
        return Child(container.command(command), env)

    def counted(self, kind: int | None = None) -> int:
        return region_file.counted(self.region, kind) if self.limited else 0

    def state(self) -> int:
        return region_file.state(self.region) if self.limited else 0
