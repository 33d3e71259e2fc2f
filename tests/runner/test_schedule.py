# SPDX-License-Identifier: Apache-2.0
"""In which order the steps run."""

import unittest

from tests.runner.schedule import BESIDE, groups
from tests.runner.steps import STEPS


class GroupsTest(unittest.TestCase):
    def test_every_step_runs_once(self):
        run = [step for group in groups(STEPS, []) for chain in group for step in chain]
        self.assertEqual(sorted(STEPS), sorted(run))

    def test_steps_that_are_named_are_steps(self):
        self.assertLessEqual({step for chains in BESIDE for chain in chains for step in chain}, set(STEPS))

    def test_only_what_is_wanted(self):
        self.assertEqual([[["deploy"], ["health"]], [["e2e"]]], groups(STEPS, ["e2e", "health", "deploy"]))
        self.assertEqual([[["health"]]], groups(STEPS, ["health"]))
