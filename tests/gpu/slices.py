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
        self.timer.daemon = True
        self.timer.start()

    def read(self) -> Any:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(("{", "[")):
                return json.loads(line)
        code = self.process.wait()
        self.errors.seek(0)
        raise RuntimeError(f"a program ended with code {code}: {self.errors.read()[-2000:].decode(errors='replace')}")

    def go_on(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def next(self) -> Any:
        """What it says next."""
        self.go_on()
        return self.read()

    def end(self) -> int:
        """Its code. It goes on until it ends."""
        self.process.communicate("\n" * 100)
        self.close()
        return self.process.returncode

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.timer.cancel()
        self.errors.close()


class Slice:
    """With `limited` false the same without a limiter: the whole GPU, for comparison."""

    def __init__(self, uuid: str, limit_mib: int, limited: bool, in_namespace: bool) -> None:
        self.limit, self.limited, self.in_namespace = limit_mib * MIB, limited, in_namespace
        self.folder = Path(tempfile.mkdtemp(prefix="gpupool-gpu-", dir="/dev/shm"))
        text = f"gpupool-limits 1\ndevice 0 {uuid} {limit_mib} - 0\n"
        self.limits_text = text + f"crc32 {zlib.crc32(text.encode()):08x}\n"
        self.region = self.folder / "region" if self.in_namespace else REGION
        self.made: list[Path] = []
        self.children: list[Child] = []
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
        for child in self.children:
            child.close()
        for path in self.made:
            path.unlink()
        shutil.rmtree(self.folder)

    def __enter__(self) -> "Slice":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self, *arguments: str) -> Child:
        """tests/gpu/inside with these arguments."""
        self.children.append(Child(*self.command(arguments)))
        return self.children[-1]

    def command(self, arguments: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
        command = [sys.executable, INSIDE, *arguments]
        env = dict(os.environ)
        if not self.limited:
            return command, env
        if not self.in_namespace:
            return command, {**env, "LD_PRELOAD": " ".join(libraries())}
        return Container(files={str(LIMITS): self.limits_text}, run_folder=str(self.folder)).command(command), env

    def counted(self, kind: int | None = None) -> int:
        return region_file.counted(self.region, kind) if self.limited else 0

    def state(self) -> int:
        return region_file.state(self.region) if self.limited else 0
