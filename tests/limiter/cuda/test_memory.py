# SPDX-License-Identifier: Apache-2.0
"""M7, M8, C7 and, for memory, E1: what programs get of a slice, what they are told of it, and what they cannot pass."""

import unittest

from tests.limiter.container import Container, test_program
from tests.limiter.cuda.cuda_case import CONTEXT, DRIVER, MEMORY, UUIDS, WITH_NVML, CudaCase, limits_file

LIMIT = 512
BAD_LIMITS, UNKNOWN_DEVICE, UNMEASURED = 1 << 1, 1 << 4, 1 << 5


class Memory(CudaCase):
    def case(self, *arguments: str, container: Container | None = None, **env: str) -> list[list[str]]:
        output = self.output_of(container or self.container(LIMIT, None), "memory-cases", *arguments, **env)
        return [line.split() for line in output.splitlines()]

    def numbers(self, *arguments: str, **env: str) -> list[list[int]]:
        return [[int(word) for word in row] for row in self.case(*arguments, container=None, **env)]

    def test_sizes(self) -> None:
        """M8: total is the limit, free what is left of it, and NVML says the same."""
        left = LIMIT - CONTEXT
        expected = [[free, LIMIT, LIMIT, free, LIMIT, LIMIT - free] for free in (left, left - 100, left)]
        self.assertEqual(self.numbers("sizes", LD_LIBRARY_PATH=WITH_NVML), expected)

    def test_sizes_over_the_limit(self) -> None:
        """M8: 8 modules more than there is room for: nothing is free, and free is not beyond 0."""
        region, sizes = self.numbers("over", LD_LIBRARY_PATH=WITH_NVML)
        self.assertEqual(region, [LIMIT + 16])
        self.assertEqual(sizes, [0, LIMIT, LIMIT, 0, LIMIT, LIMIT])

    def test_small_allocations_fill_their_block(self) -> None:
        """2 MiB of 1 KiB each, less the first."""
        self.assertEqual(self.case("small"), [["2047"]])

    def test_refusals_are_counted_once(self) -> None:
        self.assertEqual(self.case("refusals"), [["once"]])

    def test_orders(self) -> None:
        self.assertEqual(self.case("orders"), [["exact"]])

    def test_graph_that_frees_on_launch(self) -> None:
        self.assertEqual(self.case("relaunch"), [["exact"]])

    def test_forks_and_exec(self) -> None:
        """Children have nothing of their parent's; the new program begins with an empty slice."""
        self.assertEqual(self.case("forks"), [[str(LIMIT - CONTEXT)]])

    def test_ranks_of_a_slice(self) -> None:
        """Three processes together get the slice, and a dead one's part goes to the others."""
        filled, region, more = self.case("ranks")[0]
        self.assertEqual((int(filled), int(region), more), (LIMIT - 3 * CONTEXT, LIMIT, "more"))

    def test_other_devices_are_not_limited(self) -> None:
        self.assertEqual(self.case("fill", container=self.container(None, LIMIT)), [[str(MEMORY - CONTEXT)]])

    def test_environment_and_preload_variables_change_nothing(self) -> None:
        """E1: the file wins, whatever the environment is or is not."""
        container = self.container(LIMIT, None)
        container.library_folders = (DRIVER,)
        filled = f"{LIMIT - CONTEXT}\n"
        self.assertEqual(self.output_of(container, "memory-cases", "fill", CUDA_DEVICE_MEMORY_LIMIT_0="100g",
                                        CUDA_REDIRECT="/tmp/x", LD_PRELOAD=""), filled)
        output = container.output(test_program("use-slice"), "--", "/usr/bin/env", "-i",
                                  f"GPUPOOL_FAKE_NVML={self.world}", test_program("memory-cases"), "fill")
        self.assertEqual(output, filled)

    def state(self, content: str, region: bool = True) -> list[list[str]]:
        container = Container(files={"/etc/gpupool/limits": content})
        if region:
            return self.case("state", container=container)
        done = container.run(test_program("memory-cases"), "state", env=self.env)
        return [line.split() for line in done.stdout.splitlines()]

    def test_what_cannot_be_enforced_is_refused_and_said(self) -> None:
        """C7."""
        said = self.state(limits_file(LIMIT, None))
        self.assertEqual(said[0], ["context", "granted"])
        self.assertEqual(int(said[1][0]), UNMEASURED, "no NVML: contexts are estimates")
        said = [line.split() for line in self.output_of(self.container(LIMIT, None), "memory-cases", "state",
                                                        LD_LIBRARY_PATH=WITH_NVML).splitlines()]
        self.assertEqual(said, [["context", "granted"], ["0"]], "everything is enforced and measured")
        said = self.state("nonsense\n")
        self.assertEqual(said[0], ["none", "refused"])
        self.assertTrue(int(said[1][0]) & BAD_LIMITS)
        other = limits_file(LIMIT, None).replace(UUIDS[0], "GPU-00000000-0000-0000-0000-0000000000ff")
        said = self.state(other)
        self.assertEqual(said[0], ["none", "refused"], "the CRC does not fit")
        self.assertEqual(self.state(limits_file(LIMIT, None), region=False), [["none", "refused"]])

    def test_unknown_device(self) -> None:
        text = limits_file(LIMIT, uuids=("GPU-00000000-0000-0000-0000-0000000000ff",))
        said = self.state(text)
        self.assertEqual(said[0], ["none", "refused"])
        self.assertTrue(int(said[1][0]) & UNKNOWN_DEVICE)


if __name__ == "__main__":
    unittest.main()
