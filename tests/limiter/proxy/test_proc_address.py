# SPDX-License-Identifier: Apache-2.0
"""S2: cuGetProcAddress answers as real drivers do, with the limiter's function wherever it has one."""

import unittest

from tests.limiter.container import Container, test_program
from tests.limiter.proxy import driver_data
from tests.limiter.proxy.driver_case import CUDA_NAMES, REPLAYED, replay, wrapped

QUESTIONS = 200_000  # at least, of both forms


class ProcAddress(unittest.TestCase):
    def ask(self, container: Container, driver: int, library: str) -> list[str]:
        return container.output(test_program("ask-driver"), library, str(CUDA_NAMES),
                                env={"LD_LIBRARY_PATH": replay(driver)}).splitlines()

    def test_stand_ins_answer_as_the_data_say(self) -> None:
        """So what the next test compares with is what real drivers said."""
        rules = driver_data.by_name(driver_data.read_rules())
        for driver in (driver_data.DRIVERS[0], driver_data.DRIVERS[-1]):
            lines = self.ask(Container(preload=[]), driver, f"{replay(driver)}/{REPLAYED}")
            for question, answer in driver_data.parse_answers("\n".join(lines[::7])).items():
                self.assertEqual(answer[:3], driver_data.expected(question, rules, driver)[:3], f"{question} of {driver}")

    def test_each_answer_is_routed(self) -> None:
        ours = wrapped()
        for driver in driver_data.DRIVERS:
            direct = self.ask(Container(preload=[]), driver, f"{replay(driver)}/{REPLAYED}")
            routed = self.ask(Container(), driver, "libcuda.so.1")
            if driver < driver_data.FIRST_WITH_V2:
                # cuGetProcAddress_v2 is there all the same, and answers from the older form.
                routed = [line for line in routed if line.startswith("1 ")]
            else:
                self.assertGreater(len(direct), QUESTIONS)
            self.assertEqual(len(direct), len(routed))
            found = 0
            for plain, through in zip(direct, routed):
                function = plain.split()[6]
                if function in ours:
                    plain = plain.removesuffix(REPLAYED) + "libgpupool-vgpu.so"
                    found += 1
                self.assertEqual(through, plain)
            self.assertGreater(found, 0)

    def test_newer_form_over_an_old_driver(self) -> None:
        for line in self.ask(Container(), 470, "libcuda.so.1"):
            if line.startswith("2 "):
                _, name, version, _, result, status, function, _ = line.split()
                self.assertEqual((result, status), ("0", "0" if function != "-" else "1"), f"{name} of {version}")


if __name__ == "__main__":
    unittest.main()
