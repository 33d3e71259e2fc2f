# SPDX-License-Identifier: Apache-2.0
"""Hundreds of jobs that are deleted with one request."""

import random

from tests.faults.races.submissions import possible
from tests.kit.api import Api
from tests.kit.waiting import wait_for


def delete_storm(api: Api, namespace: str, count: int, seed: int) -> None:
    """Returns when all are gone."""
    numbers = random.Random(seed)
    for i in range(count):
        api.create("gpujobs", possible(f"storm{i}", namespace, numbers))
    api.call("DELETE", api.url("gpujobs", namespace))
    wait_for(f"{count} jobs to be gone", lambda: not api.list("gpujobs", namespace), 180,
             lambda: str([(j["metadata"]["name"], j.get("status")) for j in api.list("gpujobs", namespace)][:5]))
