# SPDX-License-Identifier: Apache-2.0
"""Measured numbers with their limits."""

import dataclasses
from typing import Any

MIB = 1 << 20


@dataclasses.dataclass
class Report:
    values: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    missing: list[str] = dataclasses.field(default_factory=list)

    def value(self, name: str, number: float, unit: str, at_most: float | None = None, at_least: float | None = None) -> None:
        """Without a limit it is only told."""
        row: dict[str, Any] = {"name": name, "value": round(number, 3), "unit": unit}
        if at_most is not None:
            row["at_most"] = round(at_most, 3)
        if at_least is not None:
            row["at_least"] = round(at_least, 3)
        if at_most is not None or at_least is not None:
            row["ok"] = (at_most is None or number <= at_most) and (at_least is None or number >= at_least)
        self.values.append(row)

    def mib(self, name: str, number: float, at_most: float | None = None, at_least: float | None = None) -> None:
        """All in bytes; MiB are told."""
        self.value(name, number / MIB, "MiB", None if at_most is None else at_most / MIB, None if at_least is None else at_least / MIB)

    def failed(self) -> list[str]:
        return [row["name"] for row in self.values if not row.get("ok", True)]
