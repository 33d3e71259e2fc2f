# SPDX-License-Identifier: Apache-2.0
"""Since when an operator leads, by the renewals of the election's lease."""

from tests.faults.checker.rule import Change


class Leadership:
    """Only time without a break counts: one and the same leader renews in its rhythm, which one that is paused, dead or
    starved does not, and the checker's own writes come back without delay, since nobody can be faster than the machine. A
    leader that comes begins anew, and so does one whose machine was slow for a moment: time in pieces, in none of which
    anything could be done, would add up."""

    RENEWED_WITHIN = 1.0  # twice the period of those that race
    PROMPT = 0.2

    def __init__(self) -> None:
        self._holder, self._since, self._until = "", 0.0, 0.0

    def look(self, change: Change) -> tuple[float, float]:
        """Since when, and until when as far as known."""
        if change.kind == "ticks" and change.after > self.PROMPT:
            self._since = change.when
        elif change.kind == "leases" and change.after:
            self._renew(change.after["spec"].get("holderIdentity") or "", change.when)
        return self._since, self._until

    def _renew(self, holder: str, when: float) -> None:
        if not holder or holder != self._holder or when - self._until > self.RENEWED_WITHIN:
            self._since = when
        self._holder, self._until = holder, when
