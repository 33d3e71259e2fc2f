# SPDX-License-Identifier: Apache-2.0
"""What a container with limits looks like to its programs: a private mount namespace with its own /etc and /run.

The machine's own /etc/ld.so.preload is never touched: /etc is a copy in memory, seen by the started program alone.
"""

import dataclasses
import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Mapping, Sequence

from tests.kit.paths import build_folder

LIMIT = 120  # seconds
NAMES = ("libgpupool-vgpu.so", "libgpupool-vgpu-alias.so", "libgpupool-vgpu-nvml.so")


def libraries() -> list[str]:
    """The built libraries, in the order of the preload file."""
    return [str(build_folder() / "lib" / "gpupool-vgpu" / name) for name in NAMES]


def test_program(name: str) -> str:
    return str(build_folder() / "bin" / "limiter-tests" / name)


def test_library(folder: str) -> str:
    """A folder of libraries that stand in for the driver's."""
    return str(build_folder() / "lib" / "limiter-tests" / folder)


@dataclasses.dataclass
class Container:
    """Runs programs, each in a namespace of its own that looks like this."""
    preload: Sequence[str] = dataclasses.field(default_factory=libraries)
    library_folders: Sequence[str] = ()  # known to ld.so.cache
    files: Mapping[str, str] = dataclasses.field(default_factory=dict)  # below /etc: path -> content
    mounts: Mapping[str, str] = dataclasses.field(default_factory=dict)  # path -> file or folder of the machine
    run_folder: str = ""  # a folder of the machine that is /run/gpupool

    def command(self, program: Sequence[str]) -> list[str]:
        """What to start. It needs root."""
        lines = ["set -e", 'stage=$(mktemp -d); mount -t tmpfs none "$stage"',
                 'mkdir "$stage/etc" "$stage/run"; cp -a /etc/. "$stage/etc/"; mkdir -p "$stage/run/gpupool"']
        for path, content in self.files.items():
            target = '"$stage"' + shlex.quote(path)
            lines.append(f"mkdir -p $(dirname {target}); printf %s {shlex.quote(content)} > {target}")
        if self.library_folders:
            # The file of its own is written over the machine's list, so that these folders come first.
            folders = "\\n".join(self.library_folders)
            lines.append('printf "' + folders + '\\n" > "$stage/etc/ld.so.conf"; mount -t tmpfs none /var/cache/ldconfig')
        lines.append('mount --bind "$stage/etc" /etc; mount --bind "$stage/run" /run; umount -l "$stage"; rmdir "$stage"')
        if self.library_folders:
            lines.append("/sbin/ldconfig -X 2>/dev/null")
        if self.run_folder:
            lines.append(f"mount --bind {shlex.quote(self.run_folder)} /run/gpupool")
        for path, source in self.mounts.items():
            lines.append(f"mount --bind {shlex.quote(source)} {shlex.quote(path)}")
        preload = "\\n".join(self.preload)
        lines.append(f"printf '{preload}\\n' > /etc/ld.so.preload" if self.preload else ":")
        lines.append('exec "$@"')
        return ["/usr/bin/unshare", "-m", "/bin/sh", "-c", "\n".join(lines), "sh", *program]

    def run(self, *program: str, env: Mapping[str, str] | None = None, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Runs a program to its end; the environment is this one and `env`."""
        return subprocess.run(self.command(program), env={**os.environ, **(env or {})}, input=stdin, capture_output=True,
                              text=True, timeout=LIMIT, check=False)

    def output(self, *program: str, env: Mapping[str, str] | None = None) -> str:
        """What it prints; an error if it fails or writes to standard error."""
        done = self.run(*program, env=env)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"{shlex.join(program)}: code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout


def scratch() -> Path:
    """A folder for one test; its caller removes it."""
    return Path(tempfile.mkdtemp(prefix="gpupool-limiter-"))
