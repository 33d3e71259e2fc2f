# SPDX-License-Identifier: Apache-2.0
"""torchrun finds all its settings in the variables that the launcher sets: examples/torchrun.yaml on two workers."""
import pathlib
import re
import socket

import yaml

from tests.launcher.launcher_case import HANG_LIMIT, LauncherCase

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/torchrun.yaml"


class Torchrun(LauncherCase):
    def test_two_workers_with_two_processes_each(self):
        code, job = yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8"))
        worker = job["spec"]["template"]["spec"]["containers"][0]
        script = self.dir / "train.py"
        script.write_text(code["data"]["train.py"])
        command = [*worker["command"], *worker["args"][:-1], str(script)]
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        workers = []
        for rank in (0, 1):
            self.state = self.dir / f"state-{rank}"
            self.state.mkdir()
            flags = [f"--rank={rank}", "--nnodes=2", "--nproc=2", "--master-addr=127.0.0.1", f"--master-port={port}"]
            workers.append(self.start(*command, flags=flags, env={"OMP_NUM_THREADS": 1, "GLOO_SOCKET_IFNAME": "lo"}))
        shown = ""
        for process in workers:
            out, err = process.communicate(timeout=HANG_LIMIT)
            self.assertEqual(process.returncode, 0, err)
            shown += out.decode()
        found = re.findall(r"rank (\d) of 4, GPU (\d): sum 10$", shown, re.M)
        self.assertEqual([("0", "0"), ("1", "1"), ("2", "0"), ("3", "1")], sorted(found), shown)
