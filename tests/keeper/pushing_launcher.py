# SPDX-License-Identifier: Apache-2.0
"""gpupool-launch as a process that pushes to a keeper."""

import os
import signal
import subprocess

from tests.keeper.keeper_server import KeeperServer, attempt_token
from tests.kit.paths import program


class PushingLauncher:
    def __init__(self, keeper: KeeperServer, folder: str, ns: str, uid: str, command: list[str], rank: int = 0, ranks: int = 1,
                 number: int = 0, port: int = 0, flags: tuple[str, ...] = ()) -> None:
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        self._command = [program("gpupool-launch"), "run", "--state-dir", folder, "--termination-log", f"{folder}/termination-log",
                         "--job", "job", f"--rank={rank}", f"--nnodes={ranks}", "--master-addr=127.0.0.1", "--master-timeout=0",
                         f"--keeper=127.0.0.1:{port or keeper.port}", "--keeper-key=k1", f"--keeper-id={ns}/{uid}/{number}/pool",
                         *flags, "--", *command]
        self._variables = dict(os.environ, GPUPOOL_KEEPER_TOKEN=attempt_token(uid, number, ns).hex())
        self.start()

    def start(self) -> None:
        with open(f"{self.folder}/stdout", "ab") as out, open(f"{self.folder}/stderr", "ab") as err:
            self.process = subprocess.Popen(self._command, stdout=out, stderr=err, env=self._variables)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stdout(self) -> str:
        with open(f"{self.folder}/stdout", encoding="utf-8") as source:
            return source.read()

    def stderr(self) -> str:
        with open(f"{self.folder}/stderr", encoding="utf-8") as source:
            return source.read()
