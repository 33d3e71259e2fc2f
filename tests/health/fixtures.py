# SPDX-License-Identifier: Apache-2.0
"""Objects of a live cluster as files, without what is different in each cluster."""

import glob
import json
import os
import re
from typing import Any

from tests.kit.api import Object
from tests.kit.paths import ROOT

FOLDER = os.path.join(ROOT, "tests", "health", "fixtures")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
META = ("name", "namespace", "generation", "deletionTimestamp", "deletionGracePeriodSeconds", "finalizers")


def names() -> list[Any]:
    return sorted(os.path.basename(path).removesuffix(".json") for path in glob.glob(os.path.join(FOLDER, "*.json")))


def load(name: str) -> Any:
    with open(os.path.join(FOLDER, name + ".json"), encoding="utf-8") as source:
        return json.load(source)


def store(name: str, objekt: Object) -> None:
    with open(os.path.join(FOLDER, name + ".json"), "w", encoding="utf-8") as target:
        json.dump(objekt, target, indent=1, sort_keys=True)
        target.write("\n")


def without_volatile(objekt: Object, renamed: dict[str, str]) -> Any:
    """renamed: {name in this cluster: name in the fixture}."""
    cut = {**objekt, "metadata": {key: value for key, value in objekt["metadata"].items() if key in META}}
    cut["spec"] = {key: value for key, value in cut["spec"].items() if key != "template"}
    text = UUID.sub("00000000-0000-4000-8000-000000000000", TIME.sub("2026-01-01T00:00:00Z", json.dumps(cut)))
    for old, new in renamed.items():
        text = re.sub(rf"\b{re.escape(old)}\b", new, text)
    return json.loads(text, object_hook=_without_hash)


def _without_hash(value: dict) -> dict[Any, Any]:
    return {key: "0" if key == "specHash" else each for key, each in value.items()}


def shape(objekt: Object) -> Any:
    """What health depends on, in lines that read well when they differ."""
    meta, status = objekt["metadata"], objekt.get("status") or {}
    observed = status.get("observedGeneration")
    lines = [f"observed {'it' if observed == meta['generation'] else observed if observed in (None, -1) else 'another'}"]
    lines += [f"{key} {status[key]}" for key in ("phase", "reason") if key in status]
    lines += [f"lease {status['lease'].get('state')}"] if status.get("lease") else []
    lines += ["deleted"] if meta.get("deletionTimestamp") else []
    lines += [f"{c['type']}={c['status']} {c['reason']} {'with' if c.get('message') else 'without'} a message"
              for c in status.get("conditions", [])]
    return lines
