# SPDX-License-Identifier: Apache-2.0
"""The result of a worker's command, as gpupool-launch leaves it in the termination message."""

import json
from typing import Any, Sequence

from tests.kit.api import Object
from tests.kit.times import seconds_now

VERSION = 1  # of the format


def reason_of(code: int) -> str:
    """As container runtimes say it."""
    return "Completed" if code == 0 else "Error"


def exited(attempt: int, rank: int, code: int, tail: str = "", metrics: Sequence[str] = (), stop_signal: int = 0,
           report: str = "") -> str:
    """The message of a command that ended with this exit code, after it printed these last lines, as in
    lib/api/worker_result_format.h. metrics: texts of numbers that it reported. stop_signal: it was told to stop before.
    report: what it left in its report file."""
    more: Object = {"metrics": list(metrics)} if metrics else {}
    if stop_signal:
        more["stopSignal"] = stop_signal
    if report:
        more.update(report=report, reportedAt=seconds_now())
    return json.dumps({**more, "version": VERSION, "attempt": attempt, "rank": rank, "outcome": "exited", "exitCode": code,
                       "reason": reason_of(code), "message": f"exit code {code}", "tail": tail,
                       "finishedAt": seconds_now()})


def terminated(attempt: int, rank: int, code: int, *more: Any, **told: Any) -> Object:
    """The state of a worker's container whose command ended so: arguments as of exited()."""
    return {"terminated": {"exitCode": code, "reason": reason_of(code), "message": exited(attempt, rank, code, *more, **told),
                           "startedAt": seconds_now(), "finishedAt": seconds_now()}}


def container_status(name: str, image: str, state: Object) -> Object:
    """Of a container that was not started again."""
    return {"name": name, "image": image, "imageID": "", "ready": "running" in state, "restartCount": 0, "state": state,
            "lastState": {}}
