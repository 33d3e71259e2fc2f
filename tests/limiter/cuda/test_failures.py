# SPDX-License-Identifier: Apache-2.0
"""M4, and launches: what the driver refuses is charged to nobody, and what is launched arrives as it was asked for."""

import re
import unittest

from tests.kit.paths import ROOT
from tests.limiter.cuda.cuda_case import WITH_NVML, CudaCase


class Failures(CudaCase):
    def fail_each(self, **env: str) -> None:
        output = self.output_of(self.container(1000, 1000), "failing-calls", **env)
        rows = {name: (int(own), int(inner)) for name, own, inner in (line.split() for line in output.splitlines())}
        print(f"{len(rows)} calls failed in {sum(own + inner for own, inner in rows.values())} ways")
        self.assertEqual([name for name, (own, _) in rows.items() if own == 0], [], "none of these failed")
        self.assertGreater(sum(inner for _, inner in rows.values()), 100)

    def test_each_call(self) -> None:
        self.fail_each()

    def test_each_call_with_nvml(self) -> None:
        self.fail_each(LD_LIBRARY_PATH=WITH_NVML)


class Launches(CudaCase):
    def test_arguments_arrive(self) -> None:
        output = self.output_of(self.container(1000, 1000), "launch-arguments")
        arrived = dict(line.split() for line in output.splitlines())
        text = (ROOT / "limiter/proxy/wrapped.txt").read_text(encoding="utf-8")
        self.assertEqual(arrived, {name: "arrived" for name in re.findall(r"^cuLaunch\w+|^cuLaunch$", text, re.MULTILINE)})


if __name__ == "__main__":
    unittest.main()
