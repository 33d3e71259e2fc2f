# SPDX-License-Identifier: Apache-2.0
"""The base of the tests of sharing pools: three nodes with a GPU in ten slices each."""

from typing import Any

from tests.kit.jobs import JobHandle
from tests.kit.names import MEMBER_LABEL, POOL_TAINT
from tests.kit.played.case import FakeClusterCase
from tests.kit.waiting import wait_for


class SharingCase(FakeClusterCase):
    pool_spec = {"sharing": {"deviceSplitCount": 10}}
    gpus = 1
    split = 10

    def add_node(self, name: str) -> None:
        self.nodes.add(name, self.label, gpus=0)
        self.plugins.add(name, self.gpus, self.split)

    def clean(self) -> None:
        peak = dict(self.plugins.peak)
        super().clean()
        over = {gpu: slices for gpu, slices in peak.items() if slices > self.split}
        self.assertFalse(over, "more slices in use than there are")
        wait_for("the marks of the pools to go", lambda: not self.pool_marks(), detail=lambda: str(self.pool_marks()))

    def submit_slices(self, name: str, count: int = 1, **options: Any) -> JobHandle:
        return self.submit(name, slice={"count": count}, **options)

    def wait_slices(self, total: int, free: int) -> None:
        self.wait_pool(slices={"total": total, "free": free})

    def pool_marks(self) -> list[tuple[str, list[str], str | None]]:
        """What sharing pools have left on nodes."""
        found = []
        for node in self.api.list("nodes"):
            taints = [t["value"] for t in node["spec"].get("taints", []) if t["key"] == POOL_TAINT]
            label = node["metadata"].get("labels", {}).get(MEMBER_LABEL)
            if taints or label:
                found.append((node["metadata"]["name"], taints, label))
        return found

    def wait_marks(self, *names: str, pool: str | None = None) -> None:
        """Exactly these nodes carry the marks of the pool."""
        uids = {n["metadata"]["name"]: n["metadata"]["uid"] for n in self.api.list("nodes")}
        wanted = sorted((name, [pool or self.pool], uids[name]) for name in names)
        wait_for(f"the marks of {names}", lambda: sorted(self.pool_marks()) == wanted,
                 detail=lambda: str(self.pool_marks()))
