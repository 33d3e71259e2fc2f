# SPDX-License-Identifier: Apache-2.0
"""S5: what the limiter costs programs, and that it does nothing in those that use no CUDA.

A busy machine is no defect: only what is many times too slow fails. With STRICT_TIMES in the environment (`make soak`) the
numbers of S5 decide.
"""

import os
import unittest

from tests.limiter.container import Container, libraries, test_library, test_program
from tests.limiter.proxy.driver_case import REPLAYED, replay

PATIENCE = 1 if os.environ.get("STRICT_TIMES") else 20
CALL_NANOSECONDS = 5 * PATIENCE
EXEC_MICROSECONDS = 100 * PATIENCE
OF_EMPTY_LIBRARIES = 1.5  # or, on a slow machine, of what as many empty libraries cost
READS_OF_A_LIBRARY = 1
ROUNDS = "300"


def measured(*arguments: str, container: Container, folder: str = "") -> list[float]:
    words = container.output(test_program("time-calls"), *arguments, env={"LD_LIBRARY_PATH": folder}).split()
    return [float(word) for word in words]


class Cost(unittest.TestCase):
    def test_forwarded_call(self) -> None:
        [direct] = measured(f"{replay(555)}/{REPLAYED}", container=Container(preload=[]))
        [through] = measured(REPLAYED, container=Container(), folder=replay(555))
        print(f"a call: {direct:.2f} ns, through the proxy {through:.2f} ns")
        self.assertLessEqual(through - direct, CALL_NANOSECONDS)

    def test_exec(self) -> None:
        """Processor time: what a program waits for others on the machine is not the limiter's."""
        empty = [test_library(f"libempty-{number}.so") for number in (1, 2, 3)]
        for _ in range(3):
            costs = {}
            for name, preload in (("empty", empty), ("limiter", libraries())):
                costs[name], plain, clock, _ = measured("--exec", " ".join(preload), ROUNDS, container=Container(preload=[]))
                print(f"an exec of {plain:.0f} us: {costs[name]:.0f} us more ({clock:.0f} with waiting): {name}")
            limit = max(EXEC_MICROSECONDS, OF_EMPTY_LIBRARIES * costs["empty"])
            if costs["limiter"] <= limit:
                return
        self.fail(f"an exec takes {costs['limiter']:.0f} us more; {limit:.0f} are allowed")

    def test_nothing_happens_without_cuda(self) -> None:
        """The same descriptors, threads and handlers. The loader reads the preload file and the head of each library."""
        plain = Container(preload=[]).output(test_program("idle")).splitlines()
        preloaded = Container().output(test_program("idle")).splitlines()
        self.assertEqual(plain[1:], preloaded[1:])
        self.assertEqual(preloaded[1:3], ["SigCgt:\t" + "0" * 16, "Threads:\t1"])
        reads = [int(lines[0].removeprefix("syscr:")) for lines in (plain, preloaded)]
        self.assertLessEqual(reads[1] - reads[0], len(libraries()) * READS_OF_A_LIBRARY + 1)


if __name__ == "__main__":
    unittest.main()
