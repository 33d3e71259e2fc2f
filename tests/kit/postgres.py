# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of its own, on a socket in a folder of its own."""

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
from typing import Any

USER = "postgres"  # the server refuses to run as root


class PostgresServer:
    """A context manager. Its data is gone when it ends."""

    def __enter__(self) -> "PostgresServer":
        programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not programs:
            raise FileNotFoundError("PostgreSQL is not installed: deps/install")
        self._programs = programs[-1]
        self._folder = tempfile.mkdtemp(prefix="gpupool-postgres-")
        shutil.chown(self._folder, USER)
        self._data = os.path.join(self._folder, "data")
        self._call("initdb", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync")
        self.start()
        return self

    def __exit__(self, *_: Any) -> None:
        try:
            self.stop()
        finally:
            shutil.rmtree(self._folder)

    def stop(self) -> None:
        """As when its machine fails."""
        self._call("pg_ctl", "stop", "--mode=immediate")

    def start(self) -> None:
        """With what was committed."""
        options = f"-k {self._folder} -c listen_addresses= -c max_connections=200"
        self._call("pg_ctl", "start", "--wait", f"--options={options}", f"--log={self._folder}/log")

    def run(self, sql: str) -> None:
        """Statements without results, as somebody whom nothing is forbidden."""
        self._call("psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", f"--host={self._folder}", f"--username={USER}",
                   "--command=SET session_replication_role = replica", f"--command={sql}", data=False)

    @property
    def database(self) -> str:
        """Its URL."""
        return f"postgresql://{USER}@{self._folder.replace('/', '%2F')}/postgres"

    def _call(self, program: str, *words: str, data: bool = True) -> None:
        """As its own user; output goes to a file, because the server keeps it open. data: the program is told where it is."""
        user = pwd.getpwnam(USER)
        with open(os.path.join(self._folder, "output"), "ab") as output:
            done = subprocess.run([os.path.join(self._programs, program), *words, *([f"--pgdata={self._data}"] if data else [])], user=user.pw_uid,
                                  group=user.pw_gid, extra_groups=[], cwd=self._folder, stdin=subprocess.DEVNULL, stdout=output,
                                  stderr=output, timeout=120, check=False)
        if done.returncode != 0:
            with open(os.path.join(self._folder, "output"), encoding="utf-8", errors="replace") as output:
                raise RuntimeError(f"{program} {' '.join(words)} failed:\n{output.read()[-4000:]}")
