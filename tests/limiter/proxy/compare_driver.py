# SPDX-License-Identifier: Apache-2.0
"""What a driver's library exports and answers, compared with what is checked in.

Of each library: every function that it exports is a name that the proxy knows (S1, S7). Of a libcuda too: data other than the
debugger's is not exported; every function that cuGetProcAddress returns is exported; and through the limiter each answer is the
same, with the limiter's function wherever it has one (S2). A driver whose data are in drivers/ must export and answer exactly
that; any other must give what the newest older one of them gives, and may give more.
"""

import dataclasses
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

from tests.limiter.container import Container, scratch, test_program
from tests.limiter.proxy import driver_data
from tests.limiter.proxy.driver_case import CUDA_NAMES, NVML_NAMES, REPLAYED, exported, read_list, wrapped

CUDA, NVML = "libcuda", "libnvidia-ml"
NAMES = {CUDA: CUDA_NAMES, NVML: NVML_NAMES}
EXPORTS = {CUDA: "cuda_exports.txt", NVML: "nvml_exports.txt"}
DRIVERS = {CUDA: driver_data.DRIVERS, NVML: driver_data.NVML_DRIVERS}
PROXY = "libgpupool-vgpu.so"
SHOWN = 20  # names or answers of one kind


@dataclasses.dataclass(frozen=True)
class Library:
    path: Path
    kind: str
    version: str  # by the file's name; may be empty

    @property
    def exact(self) -> bool:
        """Whether its data are checked in."""
        return self.version in driver_data.VERSIONS.values() and self.base in DRIVERS[self.kind]

    @property
    def base(self) -> int:
        """The driver whose data it is compared with."""
        major = int(self.version.split(".")[0]) if self.version else DRIVERS[self.kind][-1]
        return max((driver for driver in DRIVERS[self.kind] if driver <= major), default=DRIVERS[self.kind][0])


@dataclasses.dataclass
class Comparison:
    functions: int = 0
    answers: int = 0
    differences: list[str] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)

    def tell(self, differs: bool, what: str, items: list[str]) -> None:
        if items:
            more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
            (self.differences if differs else self.notes).append(f"{what}: {', '.join(items[:SHOWN])}{more}")


def libraries_in(folder: Path) -> list[Library]:
    """Each file once, whatever links to it."""
    found = {}
    for kind in (CUDA, NVML):
        for path in sorted(folder.glob(f"{kind}.so.*")):
            if path.exists():
                version = re.search(r"\.so\.(\d+\.[0-9.]+)$", path.resolve().name)
                found[path.resolve()] = Library(path.resolve(), kind, version.group(1) if version else "")
    return list(found.values())


def compare(library: Library) -> Comparison:
    comparison = Comparison()
    try:
        types = exported(str(library.path))
    except subprocess.CalledProcessError:
        types = {}  # no ELF file
    functions = {name for name, kind in types.items() if kind in ("FUNC", "IFUNC")}
    comparison.functions = len(functions)
    if not functions:
        comparison.differences.append("not a library that exports functions")
        return comparison
    compare_exports(library, functions, comparison)
    if library.kind == CUDA:
        data = sorted(name for name in set(types) - functions if not name.startswith("cudbg"))
        comparison.tell(True, "exported data that are not the debugger's", data)
        compare_answers(library, comparison)
    return comparison


def compare_exports(library: Library, functions: set[str], comparison: Comparison) -> None:
    known = set(read_list(NAMES[library.kind]))
    name = NAMES[library.kind].name
    comparison.tell(True, f"functions that limiter/proxy/names/{name} lacks", sorted(functions - known))
    data = set(driver_data.exports(EXPORTS[library.kind], library.base))
    if library.exact:
        comparison.tell(True, "functions that its data lack", sorted(functions - data))
        comparison.tell(True, "functions of its data that it lacks", sorted(data - functions))
    elif library.version:
        comparison.tell(False, f"functions that driver {library.base} has and it lacks", sorted(data - functions))


def ask(library: Library, through: bool) -> list[str]:
    """The lines of ask-driver. The library is found by its usual name in a folder of its own."""
    folder = scratch()
    try:
        (folder / REPLAYED).symlink_to(library.path)
        container = Container() if through else Container(preload=[])
        return container.output(test_program("ask-driver"), REPLAYED if through else str(folder / REPLAYED), str(CUDA_NAMES),
                                env={"LD_LIBRARY_PATH": str(folder)}).splitlines()
    finally:
        shutil.rmtree(folder)


def compare_answers(library: Library, comparison: Comparison) -> None:
    try:
        direct, routed = ask(library, False), ask(library, True)
    except AssertionError as error:
        comparison.differences.append(f"cannot be asked: {str(error).strip()}")
        return
    answers = driver_data.parse_answers("\n".join(direct))
    comparison.answers = len(answers)
    hidden = sorted({question.name for question, answer in answers.items() if answer.function == "?"})
    comparison.tell(True, "names that cuGetProcAddress answers with what is not exported", hidden)
    compare_routes(direct, routed, comparison)
    if not library.version:
        return
    rules = driver_data.by_name(driver_data.read_rules())
    old = {"-", *driver_data.exports(EXPORTS[CUDA], library.base)}
    others: Counter[str] = Counter()
    more: Counter[str] = Counter()
    for question, answer in answers.items():
        wanted = driver_data.expected(question, rules, library.base)
        if answer[:3] == wanted[:3]:
            continue
        newer = not library.exact and (wanted.function == "-" or answer.function not in old)
        (more if newer else others)[question.name] += 1
    comparison.tell(True, f"answers other than the data of {library.base} say", counted(others))
    comparison.tell(False, f"answers that are newer than driver {library.base}", counted(more))


def compare_routes(direct: list[str], routed: list[str], comparison: Comparison) -> None:
    """A driver without cuGetProcAddress_v2 has answers of the older form alone; the limiter always has both."""
    if not any(line.startswith("2 ") for line in direct):
        routed = [line for line in routed if line.startswith("1 ")]
    ours = wrapped()
    wrong: Counter[str] = Counter()
    for plain, through in zip(direct, routed):
        if plain.split()[6] in ours:
            plain = plain.removesuffix(REPLAYED) + PROXY
        if through != plain:
            wrong[plain.split()[1]] += 1
    if len(direct) != len(routed):
        comparison.differences.append(f"{len(direct)} answers, but {len(routed)} through the limiter")
    comparison.tell(True, "answers that the limiter routes wrongly", counted(wrong))


def counted(names: Counter[str]) -> list[str]:
    return [f"{name} ({count})" for name, count in sorted(names.items())]
