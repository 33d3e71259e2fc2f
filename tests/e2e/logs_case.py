# SPDX-License-Identifier: Apache-2.0
"""What tests of kubectl gpupool logs share."""

import subprocess
from typing import Any

from tests.kit.jobs import JobHandle
from tests.kit.operator_case import OperatorCase
from tests.kit.paths import cli_binary


class LogsCase(OperatorCase):
    def command(self, *arguments: str) -> list[str]:
        return [cli_binary(), "--kubeconfig", self.lab.kubeconfig, "-n", self.namespace, *arguments]

    def run_command(self, *arguments: str) -> Any:
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, timeout=120, check=False)

    def logs(self, *arguments: str) -> Any:
        return self.run_command("logs", *arguments)

    def gang(self, name: str, script: str, **spec: Any) -> JobHandle:
        return self.submit(name, script, gpus=3, rendezvous="None", **spec)
