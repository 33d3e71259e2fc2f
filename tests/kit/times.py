# SPDX-License-Identifier: Apache-2.0
"""Times as Kubernetes writes them."""

import calendar
import datetime
import time


def now() -> str:
    """With microseconds, as in the leases of nodes."""
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def seconds_now() -> str:
    return now().partition(".")[0] + "Z"


def unix_seconds(text: str) -> int:
    """Of a time without a fraction of a second."""
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))
