# SPDX-License-Identifier: Apache-2.0
"""CSV files and rules for them, made up at random."""

import dataclasses
import random
from typing import Any, Callable

MISSING = ["", "", "NA", "NaN", "nan", "null", "NULL", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "-nan", "-NaN", "-1.#IND",
           "-1.#QNAN", "1.#IND", "1.#QNAN"]
WORDS = ["red", "green", "blue", "Ünïcödé", "東京", "🙂", "a b", " padded ", "O'Hara", "na", "None", "-", "x;y", "x,y", "x|y", "tab\there",
         'say "hi"', "two\nlines", "cr\r\nlf", "7 days", "1e", "0x10", "1_000"]
DELIMITERS = [",", ",", ",", ";", "\t", "|"]


@dataclasses.dataclass
class CsvFile:
    """A file, the rules for it, and what it was made of."""
    number: int
    content: bytes
    rules: dict[str, Any]
    delimiter: str
    names: list[str]
    rows: list[list[str]]  # the values as texts, also of rows with too few or too many fields


def _integer(r: random.Random) -> str:
    return r.choice([str(r.randint(-50, 50)), str(r.randint(-10**6, 10**6)), f"{r.randint(0, 999):04d}", f"+{r.randint(0, 9)}",
                     f" {r.randint(0, 9)}"])


def _number(r: random.Random) -> str:
    return r.choice([f"{r.gauss(0, 100):.3f}", repr(r.gauss(0, 1)), f"{r.gauss(0, 1):.6e}", f"{r.randint(-9, 9)}.", f".{r.randint(0, 99)}",
                     str(r.randint(-50, 50)), f"{r.randint(-5, 5)}.50", f"{r.random():.25f}"])


def _few(r: random.Random) -> str:
    return r.choice(["1", "2", "2.0", "3", "3.5"])


def _infinite(r: random.Random) -> str:
    return r.choice(["inf", "-inf", "Infinity", "1", "2.5", "-3"])


def _word(r: random.Random) -> str:
    return r.choice(WORDS)


def _mixed(r: random.Random) -> str:
    return r.choice([_integer, _number, _word])(r)


def _nothing(_: random.Random) -> str:
    return "NA"


KINDS: dict[str, Callable[[random.Random], str]] = {
    "integer": _integer, "number": _number, "few": _few, "infinite": _infinite, "word": _word, "mixed": _mixed, "nothing": _nothing}


def _field(text: str, delimiter: str, r: random.Random, alone: bool) -> str:
    needed = any(c in text for c in (delimiter, '"', "\n", "\r")) or (alone and not text.strip(" \t"))
    return '"' + text.replace('"', '""') + '"' if needed or r.random() < 0.1 else text


def _bounds(r: random.Random, quantiles: bool) -> dict[str, str]:
    chosen = r.choice(["low", "high", "both", "both"])
    bounds = {}
    if quantiles:
        low, high = sorted(round(r.random(), r.randint(1, 4)) for _ in range(2))
        names = ("lowerQuantile", "upperQuantile")
    else:
        low, high = sorted(r.choice([r.randint(-60, 60), round(r.gauss(0, 50), 2)]) for _ in range(2))
        names = ("min", "max")
    if chosen != "high":
        bounds[names[0]] = str(low)
    if chosen != "low":
        bounds[names[1]] = str(high)
    return bounds


def _rules(kinds: dict[str, str], r: random.Random) -> dict[str, Any]:
    missing: dict[str, Any] = {"columns": {}, "constants": {}}
    types, clips = {}, {}
    if r.random() < 0.7:
        missing["default"] = r.choice(["Keep", "Mean", "Median", "Mode", "Mode", "Median"] + (["Drop"] if len(kinds) < 4 else []))
    for name, kind in kinds.items():
        numeric = kind in ("integer", "number", "few", "infinite", "nothing")
        if r.random() < 0.3:
            missing["columns"][name] = r.choice(["Keep", "Drop", "Mode"] + (["Mean", "Median"] if numeric else []))
        elif r.random() < 0.2:
            missing["constants"][name] = r.choice(["0", "-7", "2.5", "1e3"]) if numeric else r.choice(WORDS)
        if numeric and r.random() < 0.3:
            clips[name] = _bounds(r, kind != "infinite" and r.random() < 0.5)
        if r.random() < 0.2:
            types[name] = {"integer": "Integer", "few": "Integer", "number": "Number", "infinite": "Number", "mixed": "Number",
                           "word": "Text", "nothing": "Number"}[kind]
    rules: dict[str, Any] = {"missing": missing, "types": types, "clip": {"columns": clips}}
    if r.random() < 0.3 and "infinite" not in kinds.values():
        rules["clip"]["default"] = _bounds(r, r.random() < 0.5)
    return rules


def _spoiled(row: list[str], r: random.Random) -> list[str]:
    return row + ["extra"] * r.randint(1, 3) if len(row) == 1 or r.random() < 0.5 else row[:-1]


def make_file(number: int, r: random.Random) -> CsvFile:
    delimiter = r.choice(DELIMITERS)
    kinds = {f"{r.choice(['age', 'größe', 'a b', 'x,y', '№'])}{i}": r.choice(list(KINDS)) for i in range(r.randint(1, 6))}
    share = r.choice([0, 0.1, 0.3])
    rows = []
    for _ in range(r.choice([3, 10, 60, 400])):
        row = [r.choice(MISSING) if r.random() < share else KINDS[kind](r) for kind in kinds.values()]
        rows.append(_spoiled(row, r) if r.random() < 0.03 else row)
    end = r.choice(["\n", "\n", "\r\n"])
    lines = [delimiter.join(_field(text, delimiter, r, len(row) == 1) for text in row) for row in [list(kinds), *rows]]
    text = ""
    for line in lines:
        text += line + end + (r.choice([end, "  " + end]) if r.random() < 0.02 else "")
    if r.random() < 0.3:
        text = text[:-len(end)] if not text.endswith(end + end) else text
    rules = _rules(kinds, r)
    if len(kinds) == 1 or r.random() < 0.4:  # one column has no delimiter to be found
        rules["delimiter"] = delimiter
    content = (b"\xef\xbb\xbf" if r.random() < 0.3 else b"") + text.encode()
    return CsvFile(number, content, rules, delimiter, list(kinds), rows)
