# SPDX-License-Identifier: Apache-2.0
"""How tests are divided among shards."""

import tempfile
import unittest
from pathlib import Path

from tests.e2e import pools
from tests.runner.shards import UNKNOWN, group_seconds, pack, read_times, write_times


def class_of(test: str) -> str:
    return test.rpartition(".")[0]


class PackTest(unittest.TestCase):
    def test_longest_first_into_the_emptiest_shard(self):
        self.assertEqual([["a"], ["b", "e"], ["c", "d"]], pack({"a": 9, "b": 6, "c": 5, "d": 4, "e": 2}, 3))

    def test_every_group_is_in_one_shard(self):
        groups = {f"g{number}": float(number % 7) for number in range(50)}
        shards = pack(groups, 4)
        self.assertEqual(sorted(groups), sorted(group for shard in shards for group in shard))
        sums = [sum(groups[group] for group in shard) for shard in shards]
        self.assertLessEqual(max(sums) - min(sums), max(groups.values()))

    def test_the_same_input_gives_the_same_shards(self):
        groups = {"b": 1.0, "a": 1.0, "d": 1.0, "c": 1.0}
        self.assertEqual(pack(groups, 2), pack(dict(reversed(groups.items())), 2))

    def test_more_shards_than_groups(self):
        self.assertEqual([["a"], [], []], pack({"a": 1}, 3))

    def test_groups_go_only_where_they_can_run(self):
        allowed = {"both": [1], "left": [0, 1], "right": [1, 2], "more": [0, 1]}
        shards = pack({"both": 1, "left": 9, "right": 8, "more": 2}, 3, allowed.get)
        for number, shard in enumerate(shards):
            for group in shard:
                self.assertIn(number, allowed[group])
        self.assertEqual([["left"], ["both", "more"], ["right"]], shards)

    def test_a_group_that_fits_nowhere(self):
        with self.assertRaisesRegex(ValueError, "no shard can run odd"):
            pack({"odd": 1}, 2, lambda group: [])


class PoolsTest(unittest.TestCase):
    def test_each_module_runs_somewhere(self):
        for path in Path(pools.__file__).parent.glob("test_*.py"):
            self.assertTrue(pools.shards_for(path.stem + ".Case"), path.stem)


class TimesTest(unittest.TestCase):
    def test_groups_are_the_sum_of_their_tests(self):
        self.assertEqual({"m.A": 3.0, "m.B": 5.0}, group_seconds(["m.A.x", "m.A.y", "m.B.z"], class_of,
                                                                {"m.A.x": 1.0, "m.A.y": 2.0, "m.B.z": 5.0}))

    def test_an_unknown_test_takes_the_median(self):
        self.assertEqual({"m.A": 2.0}, group_seconds(["m.A.new"], class_of, {"old": 1.0, "older": 2.0, "oldest": 90.0}))
        self.assertEqual({"m.A": 2 * UNKNOWN}, group_seconds(["m.A.x", "m.A.y"], class_of, {}))

    def test_what_is_written_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "times.json"
            self.assertEqual({}, read_times("e2e", path))
            write_times("e2e", {"b.C.d": 1.26, "a.B.c": 2}, path)
            write_times("operator", {"x": 1}, path)
            write_times("e2e", {"b.C.d": 3.04}, path)
            self.assertEqual({"b.C.d": 3.0}, read_times("e2e", path))
            self.assertEqual({"x": 1.0}, read_times("operator", path))
