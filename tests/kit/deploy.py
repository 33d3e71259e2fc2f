# SPDX-License-Identifier: Apache-2.0
"""What deploy/ installs, as objects."""

import os

import yaml

from tests.kit.api import Object
from tests.kit.paths import MANIFESTS


def objects(component: str, *kinds: str) -> list[Object]:
    """Of install.yaml: those of operator, device-plugin, users or definitions; only of these kinds, if any are named."""
    with open(os.path.join(MANIFESTS, "install.yaml"), encoding="utf-8") as source:
        found = [item for item in yaml.safe_load_all(source) if item]
    return [item for item in found if (not kinds or item["kind"] in kinds)
            and item["metadata"].get("labels", {}).get("app.kubernetes.io/component") == component]
