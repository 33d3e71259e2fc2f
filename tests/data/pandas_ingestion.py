# SPDX-License-Identifier: Apache-2.0
"""What pandas makes of a CSV file by the rules of an ingestion, and how a cleaned file differs from it."""

import io
import math
from typing import Any, Optional, Union

import pandas as pd  # type: ignore

from tests.data.csv_files import CsvFile

Frame = Any  # mypy knows nothing of pandas
TOLERANCE = 1e-12


class Result:
    """The rows that are left: what pandas read, and what it made of that by the rules."""

    def __init__(self, texts: Frame, read: Frame, written: Frame, dropped: int) -> None:
        self.texts, self.read, self.written, self.dropped = texts, read, written, dropped


def _frames(file: CsvFile) -> tuple[Frame, Frame]:
    """All rows with the right number of fields, as the texts they were made of and as what pandas finds in them."""
    good = [row for row in file.rows if len(row) == len(file.names)]
    texts = pd.DataFrame(good, columns=file.names, dtype=str)
    # pandas fills up rows with too few fields: without such it reads the very file.
    whole = len(good) == len(file.rows)
    content = file.content if whole else texts.to_csv(index=False, sep=file.delimiter, line_terminator="\n").encode()
    declared = {name: str for name, word in file.rules["types"].items() if word == "Text"}
    # Not the fast reading, which is off by one bit now and then.
    read = pd.read_csv(io.BytesIO(content), sep=file.delimiter, dtype=declared, float_precision="round_trip")
    assert len(read) == len(texts), "pandas reads another number of rows"
    return texts, read


def _fits(text: str, word: str) -> bool:
    if word == "Integer":
        return text.strip().lstrip("+-").isdigit()
    try:
        return text.strip().replace("_", "x") != "" and not math.isnan(float(text.replace("_", "x")))
    except ValueError:
        return False


def _drop(file: CsvFile, texts: Frame, read: Frame) -> tuple[Frame, Frame]:
    keep = pd.Series(True, index=read.index)
    missing = file.rules["missing"]
    for name in file.names:
        if _rule(missing, name) == "Drop":
            keep &= read[name].notna()
        word = file.rules["types"].get(name)
        if word in ("Integer", "Number"):
            keep &= read[name].isna() | texts[name].map(lambda text, word=word: _fits(text, word))
    texts, read = texts[keep].reset_index(drop=True), read[keep].reset_index(drop=True)
    for name, word in file.rules["types"].items():
        if word in ("Integer", "Number"):
            read[name] = pd.to_numeric(read[name])
    return texts, read


def _rule(missing: dict[str, Any], name: str) -> str:
    if name in missing["constants"]:
        return "Constant"
    return str(missing["columns"].get(name, missing.get("default", "Keep")))


def _fill(series: Frame, rule: str, missing: dict[str, Any], name: str) -> Union[Frame, str]:
    numeric = pd.api.types.is_numeric_dtype(series)
    if rule == "Constant":
        text = missing["constants"][name]
        if not numeric:
            return series.fillna(text)
        number = pd.to_numeric(text, errors="coerce")
        return f"the constant \"{text}\" is none" if math.isnan(number) else series.fillna(number)
    if rule in ("Mean", "Median") and numeric:
        return series.fillna(series.mean() if rule == "Mean" else series.median())
    if rule == "Mode" and series.notna().any():
        return series.fillna(series.mode()[0])
    if rule in ("Mean", "Median") and name in missing["columns"]:
        return f"{rule} is of numbers, and the column has texts"
    return series


def _clip(series: Frame, bounds: dict[str, str]) -> Frame:
    if not pd.api.types.is_numeric_dtype(series) or not series.notna().any():
        return series

    def bound(number: str, quantile: str) -> Optional[float]:
        if quantile in bounds:
            return float(series.quantile(float(bounds[quantile])))
        return float(bounds[number]) if number in bounds else None
    return series.clip(bound("min", "lowerQuantile"), bound("max", "upperQuantile"))


def pandas_result(file: CsvFile) -> Union[Result, str]:
    """The rows that are to be written, or a part of the message if there is to be none."""
    texts, read = _frames(file)
    texts, read = _drop(file, texts, read)
    if read.empty:
        return "rows would be dropped"
    written = read.copy()
    clip = file.rules["clip"]
    for name in file.names:
        filled = _fill(read[name], _rule(file.rules["missing"], name), file.rules["missing"], name)
        if isinstance(filled, str):
            return filled
        written[name] = _clip(filled, clip["columns"].get(name, clip.get("default", {})))
        if name in clip["columns"] and not pd.api.types.is_numeric_dtype(filled):
            return "only numbers are clipped"
    return Result(texts, read, written, len(file.rows) - len(read))


def _close(a: float, b: float, size: float) -> bool:
    return a == b or abs(a - b) <= TOLERANCE * max(abs(a), abs(b), size)


def _cell_differs(text: str, original: str, read: Any, wanted: Any, size: float) -> bool:
    if pd.isna(wanted):
        return text != original  # a missing value that is kept
    if not pd.isna(read) and (isinstance(wanted, str) or read == wanted):
        return text != original
    if isinstance(wanted, str):
        return text != wanted
    return not _close(float(text), float(wanted), size)


def _column_problem(report: dict[str, Any], read: Frame, written: Frame, original: list[str]) -> str:
    missing = int(read.isna().sum())
    imputed = missing - int(written.isna().sum())
    if (report["missing"], report["imputed"]) != (missing, imputed):
        return f"report says {report['missing']} missing, {report['imputed']} imputed, not {missing}, {imputed}"
    numeric = pd.api.types.is_numeric_dtype(read)
    if numeric == (report["type"] == "Text") and not (missing == len(original) and imputed):
        return f"type {report['type']}, of {read.dtype}"
    if not numeric or report["type"] == "Text":
        return ""
    for part, series in (("before", read), ("after", written)):
        values = series.dropna()
        if report[part]["count"] != len(values):
            return f"{part}: count {report[part]['count']}, not {len(values)}"
        if values.empty:
            continue
        size = float(values.abs().max())
        for key, wanted in (("min", values.min()), ("max", values.max()), ("mean", values.mean())):
            got = report[part][key]
            if math.isfinite(wanted) and (got is None or not _close(got, wanted, size)):
                return f"{part}: {key} {got}, not {wanted}"
    return ""


def compare(file: CsvFile, expected: Result, content: bytes, report: dict[str, Any]) -> str:
    """The first difference, in words."""
    if b"\r\n" in content.replace(b"cr\r\nlf", b"") or content.startswith(b"\xef\xbb\xbf"):
        return "the cleaned file has CRLF or an order mark"
    got = pd.read_csv(io.StringIO(content.decode(), newline=""), sep=file.delimiter, dtype=str, keep_default_na=False, na_values=[])
    if list(got.columns) != file.names:
        return f"columns {list(got.columns)}"
    if (len(got), report["rowsOut"], report["rowsDropped"]) != (len(expected.read), len(expected.read), expected.dropped):
        return f"{len(got)} rows, report {report['rowsOut']}, {report['rowsDropped']} dropped; pandas has {len(expected.read)}, {expected.dropped} dropped"
    for at, name in enumerate(file.names):
        read, written, original = expected.read[name], expected.written[name], expected.texts[name].tolist()
        numbers = read.abs().replace(math.inf, 0).max() if pd.api.types.is_numeric_dtype(read) else 0
        size = 0.0 if pd.isna(numbers) else float(numbers)
        for row, text in enumerate(got[name]):
            if _cell_differs(text, original[row], read[row], written[row], size):
                return f"row {row}, column {name}: {text!r} of {original[row]!r}; pandas has {written[row]!r}"
        problem = _column_problem(report["columns"][at], read, written, original)
        if problem:
            return f"column {name}: {problem}"
    return ""
