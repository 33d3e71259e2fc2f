# SPDX-License-Identifier: Apache-2.0
"""S1: what the libraries export, and that each function of a driver is reached with all its arguments."""

import re
import subprocess
import unittest

from tests.limiter.container import Container, test_library, test_program
from tests.limiter.proxy import driver_data
from tests.limiter.proxy.driver_case import (ALIAS, CUDA, CUDA_NAMES, FIRST_NUMBER, NO_DEVICE, NO_FUNCTION, NVML, NVML_NAMES,
                                             exported, needed, read_list, replay, symbols, wrapped)

NEWEST_GLIBC = (2, 28)  # what a symbol may need


class Exports(unittest.TestCase):
    def test_every_function_of_every_driver(self) -> None:
        for library, data, drivers in ((CUDA, "cuda_exports.txt", driver_data.DRIVERS),
                                       (NVML, "nvml_exports.txt", driver_data.NVML_DRIVERS)):
            names = exported(library)
            for driver in drivers:
                self.assertEqual(set(driver_data.exports(data, driver)) - set(names), set(), f"of driver {driver}")

    def test_nothing_but_the_listed_functions(self) -> None:
        for library, names in ((CUDA, CUDA_NAMES), (NVML, NVML_NAMES)):
            found = exported(library)
            self.assertEqual(sorted(found), read_list(names))
            self.assertEqual(set(found.values()), {"FUNC"}, "data of the debugger's interface must stay the driver's")
        self.assertEqual(exported(ALIAS), {})

    def test_needs_libc_alone(self) -> None:
        self.assertEqual(needed(CUDA), ["libc.so.6"])
        self.assertEqual(needed(NVML), ["libc.so.6"])
        self.assertEqual(sorted(needed(ALIAS)), ["libc.so.6", "libcuda.so.1"])

    def test_runs_on_old_glibc(self) -> None:
        for library in (CUDA, ALIAS, NVML):
            versions = {tuple(map(int, version.split("."))): columns[7] for columns in symbols(library) if len(columns) > 7
                        for version in re.findall(r"@GLIBC_([0-9.]+)", columns[7])}
            self.assertLessEqual(max(versions, default=(0,)), NEWEST_GLIBC, versions.get(max(versions, default=(0,))))

    def test_nothing_runs_at_load(self) -> None:
        for library in (CUDA, ALIAS, NVML):
            output = subprocess.run(["/usr/bin/readelf", "-W", "-d", library], capture_output=True, text=True, check=True).stdout
            self.assertNotRegex(output, r"\((INIT|INIT_ARRAY|FINI|FINI_ARRAY)\)")


class Calls(unittest.TestCase):
    def call_all(self, container: Container, names: list[str], folder: str = "") -> dict[str, list[str]]:
        kept = wrapped()  # these look at their arguments
        text = "\n".join("!" + name if name in kept else name for name in names)
        done = container.run(test_program("call-all"), "libcuda.so.1", stdin=text, env={"LD_LIBRARY_PATH": folder})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines()}

    def test_each_function_reaches_its_own(self) -> None:
        names = read_list(CUDA_NAMES)
        for driver in driver_data.DRIVERS:
            numbers = {name: FIRST_NUMBER + i for i, name in enumerate(driver_data.exports("cuda_exports.txt", driver))}
            answers = self.call_all(Container(), names, replay(driver))
            for name in names:
                expected = 0 if name in wrapped() else numbers.get(name, NO_FUNCTION)
                self.assertEqual(answers[name], [str(expected), "libgpupool-vgpu.so"], f"{name} with driver {driver}")

    def test_without_a_driver(self) -> None:
        """As a machine without a GPU. Without the limiter the library would not be found; a preload library cannot say that."""
        names = read_list(CUDA_NAMES)
        answers = self.call_all(Container(), names)
        self.assertEqual({answers[name][0] for name in names if name not in wrapped()}, {str(NO_DEVICE)})

    def test_data_of_the_debugger_is_not_found(self) -> None:
        answers = self.call_all(Container(), ["!cudbgIpcFlag", "!cudbgGetAPI"], replay(555))
        self.assertEqual(answers["cudbgIpcFlag"], ["-"])
        self.assertEqual(answers["cudbgGetAPI"], ["0", "libgpupool-vgpu.so"])

    def test_arguments_pass_unchanged(self) -> None:
        """Integers, floating point, on the stack, variadic, in memory: in the first call, which looks for the function, too."""
        numbers = [1, 2.5, 3, 4.5, ord("f"), 6.25, 7, 8.5, 9, 10.5, 11, 12.5, 13, 14.5, 15, 16.5, 17, 18.5]
        mixed = sum(place * number for place, number in enumerate(numbers, 1))
        variadic = 0.0
        for number in range(1, 5):
            variadic = variadic * 10 + (number + 0.5) + number
        line = f"{mixed} {variadic} " + " ".join(str(100 + number) for number in range(1, 10)) + f" {NO_FUNCTION}"
        container = Container(preload=[test_library("libarguments-proxy.so")])
        output = container.output(test_program("call-arguments"), env={"LD_LIBRARY_PATH": test_library("arguments")})
        self.assertEqual(output.splitlines(), [line, line])


if __name__ == "__main__":
    unittest.main()
