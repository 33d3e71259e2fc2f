# SPDX-License-Identifier: Apache-2.0
"""A pool with a price."""

import time

from tests.kit.manifests import PRICE
from tests.kit.played.case import FakeClusterCase
from tests.kit.times import unix_seconds
from tests.kit.waiting import wait_for


def seconds_of(part):
    return unix_seconds(part["to"]) - unix_seconds(part["from"])


class PriceCase(FakeClusterCase):
    node_count = 2
    pool_spec = {"price": PRICE}

    def set_price(self, **price):
        self.api.patch("gpupools", self.pool, {"spec": {"price": price}})

    def wait_billed(self, job, seconds):
        """Until what it holds now has been billed for so long."""
        begin = job.wait("bill", lambda s: s.get("bill", {}).get("open", [{}])[0].get("from"))
        wait_for("time to pass", lambda: time.time() >= unix_seconds(begin) + seconds)
