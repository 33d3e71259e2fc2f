# SPDX-License-Identifier: Apache-2.0
"""Records what the checker sees, a line of JSON for each change, to find out how a complaint came about."""

import dataclasses
import datetime
import gzip
import json
import time
from typing import Any

from tests.faults.checker.rule import Change


class Record:
    def __init__(self, path: str | None) -> None:
        """Without a path nothing is kept."""
        self._file = gzip.open(path, "wt", compresslevel=1, encoding="utf-8") if path else None
        self._offset = time.time() - time.monotonic()

    def change(self, revision: int, change: Change) -> None:
        if self._file and change.kind != "ticks":
            self._write(revision=revision, at=self._stamp(change.when), led=round(change.led_since(0.0), 3), kind=change.kind,
                        gone=change.after is None, is_now=_shown(change.after or change.before))

    def complaint(self, revision: int, rule: str, what: str) -> None:
        if self._file:
            self._write(revision=revision, at=self._stamp(time.monotonic()), rule=rule, what=what)
            self._file.flush()

    def close(self) -> None:
        if self._file:
            self._file.close()

    def _stamp(self, when: float) -> Any:
        """As in the operators' logs."""
        return datetime.datetime.fromtimestamp(when + self._offset, datetime.timezone.utc).isoformat()

    def _write(self, **line: Any) -> None:
        if self._file:
            self._file.write(json.dumps(line, default=sorted) + "\n")


def _shown(record: Any) -> Any:
    if not dataclasses.is_dataclass(record):
        return record.get("spec") if isinstance(record, dict) else record
    return {field.name: _plain(getattr(record, field.name)) for field in dataclasses.fields(record)}


def _plain(value: Any) -> Any:
    """JSON has no keys of several parts."""
    if isinstance(value, dict):
        return {key if isinstance(key, str) else "/".join(key): item for key, item in value.items()}
    return value
