"""Hundreds of jobs that are deleted with one request."""

import random

from races.submissions import possible
from support.waiting import wait_for


def delete_storm(api, namespace, count, seed):
    """Returns when all are gone."""
    numbers = random.Random(seed)
    for i in range(count):
        api.create("gpujobs", possible(f"storm{i}", namespace, numbers))
    api.call("DELETE", api.url("gpujobs", namespace))
    wait_for(f"{count} jobs to be gone", lambda: not api.list("gpujobs", namespace), 180,
             lambda: str([(j["metadata"]["name"], j.get("status")) for j in api.list("gpujobs", namespace)][:5]))
