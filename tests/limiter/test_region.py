# SPDX-License-Identifier: Apache-2.0
"""The region of a container under kills, damage and requests that come together.

Environment: REGION_SEED, REGION_KILLS, and REGION_TIMES, by which the counts of the others are multiplied (`make soak`).
"""

import os
import subprocess
import unittest

from tests.limiter.container import test_program

SEED = int(os.environ.get("REGION_SEED", "1"))
KILLS = int(os.environ.get("REGION_KILLS", "400"))
TIMES = int(os.environ.get("REGION_TIMES", "1"))
STORM = 400 if TIMES == 1 else 2000  # milliseconds
ALL_POINTS_MET = 2000  # kills by which each point has killed somebody
KINDS = ("random", "storm", "lock", "zeros", "read-only", "truncated")


def run(name: str, *arguments: str, limit: float = 120) -> tuple[int, str]:
    done = subprocess.run([test_program(name), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=limit, check=False)
    print(done.stdout, end="", flush=True)
    return done.returncode, done.stdout


class Region(unittest.TestCase):
    """Programs that say by their exit code whether the ledger held."""

    def test_kills(self) -> None:
        """32 processes, each killed at a named point: nothing over the limit, nothing left charged, nobody stuck."""
        code, output = run("region-kills", str(KILLS), str(SEED), limit=120 + KILLS / 10)
        self.assertEqual(code, 0, output)
        if KILLS >= ALL_POINTS_MET:
            met = [line.split()[0] for line in output.splitlines() if " killed " in line]
            self.assertNotIn("0", met, "a point at which no process was killed")

    def test_requests_take_turns(self) -> None:
        """Of requests of which one fits, one is granted, whichever comes in between: the region's lock is taken."""
        code, output = run("region-turns", str(20 * TIMES), limit=120 * TIMES)
        self.assertEqual(code, 0, output)

    def test_requests_that_fit_are_granted(self) -> None:
        """Also when they come at once, and when the bytes of killed processes must go first."""
        code, output = run("region-fits", str(150 * TIMES), limit=120 * TIMES)
        self.assertEqual(code, 0, output)

    def test_bytes_of_a_process_that_ends_count(self) -> None:
        """A killed process's record lock goes before its memory does."""
        code, output = run("region-leaves", str(3 * TIMES), limit=120 * TIMES)
        self.assertEqual(code, 0, output)

    def test_damage(self) -> None:
        """No crash, no hang, refusals from then on, and another container does not notice."""
        for kind in KINDS:
            for seed in range(SEED, SEED + 2 * TIMES):
                with self.subTest(kind=kind, seed=seed):
                    code, output = run("region-damage", kind, str(seed), str(STORM))
                    self.assertEqual(code, 0, output)
