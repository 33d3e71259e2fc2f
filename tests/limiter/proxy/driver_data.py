# SPDX-License-Identifier: Apache-2.0
"""What real drivers export and what their cuGetProcAddress answers: the data in drivers/, and how it is made.

cuda_exports.txt and nvml_exports.txt: FUNCTION FIRST [LAST], with the first driver that exports it and the last, if a later one
does not.
cuda_answers.txt: NAME VERSION FUNCTION STREAMS FIRST: asked for NAME of a version of CUDA from VERSION on, drivers from FIRST on
return FUNCTION; STREAMS says with which flags (thread: CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, legacy: without, both).
Lines of a name and flag with higher versions replace those with lower ones.
"""

import dataclasses
from pathlib import Path
from typing import Iterable, NamedTuple

DATA = Path(__file__).resolve().parent / "drivers"
DRIVERS = (470, 525, 535, 550, 555)  # asked, in this order
NVML_DRIVERS = (470, 535, 550, 555)
VERSIONS = {470: "470.256.02", 525: "525.147.05", 535: "535.261.03", 550: "550.163.01", 555: "555.58.02"}
SUCCESS, NOT_FOUND = 0, 500
FOUND, UNKNOWN, NEEDS_NEWER = 0, 1, 2  # what cuGetProcAddress_v2 says beside
NO_STATUS = 9  # ask-driver: the driver said nothing
FIRST_WITH_V2 = 525
PER_THREAD = 2


class Question(NamedTuple):
    form: int  # 1: cuGetProcAddress, 2: cuGetProcAddress_v2
    name: str
    version: int
    flags: int


class Answer(NamedTuple):
    result: int
    status: int
    function: str  # "-": nullptr, "?": not exported
    file: str


@dataclasses.dataclass(frozen=True, order=True)
class Rule:
    name: str
    version: int
    function: str
    streams: str
    first: int


def parse_answers(text: str) -> dict[Question, Answer]:
    """The output of ask-driver."""
    answers = {}
    for line in text.splitlines():
        form, name, version, flags, result, status, function, file = line.split()
        answers[Question(int(form), name, int(version), int(flags))] = Answer(int(result), int(status), function, file)
    return answers


def _rows(name: str) -> Iterable[list[str]]:
    for line in (DATA / name).read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def exports(name: str, driver: int) -> list[str]:
    """The functions that a driver exports, of cuda_exports.txt or nvml_exports.txt."""
    return [function for function, first, *last in _rows(name)
            if int(first) <= driver and (not last or driver <= int(last[0]))]


def read_rules() -> list[Rule]:
    return [Rule(name, int(version), function, streams, int(first))
            for name, version, function, streams, first in _rows("cuda_answers.txt")]


def expected(question: Question, rules: dict[str, list[Rule]], driver: int) -> Answer:
    """What this driver answers, by the data. `rules` of each name; the file is left empty."""
    stream = "thread" if question.flags & PER_THREAD else "legacy"
    known = [rule for rule in rules.get(question.name, []) if rule.first <= driver and rule.streams in ("both", stream)]
    found = [rule for rule in known if rule.version <= question.version]
    function = max(found, key=lambda rule: rule.version).function if found else "-"
    if question.form == 1:
        return Answer(SUCCESS if found else NOT_FOUND, NO_STATUS, function, "")
    return Answer(SUCCESS, FOUND if found else NEEDS_NEWER if known else UNKNOWN, function, "")


def by_name(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.name, []).append(rule)
    return found


def fold_answers(answers_of: dict[int, dict[Question, Answer]]) -> list[Rule]:
    """Rules that give these answers, {driver: answers}; a caller compares."""
    first_seen: dict[tuple[str, int, str, int], int] = {}
    for driver, answers in sorted(answers_of.items()):
        last: dict[tuple[str, int], str] = {}
        for question, answer in sorted(answers.items(), key=lambda item: item[0]):
            if question.form != 1 or question.flags == 1:
                continue
            key = (question.name, question.flags)
            if answer.function not in ("-", last.get(key)):
                last[key] = answer.function
                first_seen.setdefault((question.name, question.version, answer.function, question.flags), driver)
    rules = set()
    for (name, version, function, flags), driver in first_seen.items():
        other = first_seen.get((name, version, function, PER_THREAD - flags))
        streams = "both" if other == driver else "thread" if flags else "legacy"
        rules.add(Rule(name, version, function, streams, driver))
    return sorted(rules)


def fold_exports(exports_of: dict[int, set[str]]) -> list[tuple[str, int, int | None]]:
    """(function, first driver, last driver if a later one lacks it)"""
    drivers = sorted(exports_of)
    folded: list[tuple[str, int, int | None]] = []
    for name in sorted(set().union(*exports_of.values())):
        having = [driver for driver in drivers if name in exports_of[driver]]
        folded.append((name, having[0], having[-1] if having[-1] != drivers[-1] else None))
    return folded
