# SPDX-License-Identifier: Apache-2.0
"""The base of all rules."""

from typing import Any, Iterator

from tests.faults.checker.records import Node
from tests.faults.checker.state import State


class Change:
    SETTLED = 3.0  # seconds: longer than a pause of an operator, less the term of a leader
    KNOWN = 5.0  # seconds in which a watch shows everything

    def __init__(self, when: float, kind: str, before: Any, after: Any) -> None:
        self.when, self.kind, self.before, self.after = when, kind, before, after
        self.led = (0.0, 0.0)  # since when and until when somebody leads without a break

    def led_since(self, when: float) -> float:
        """For how many seconds since then, of those without a break until now."""
        since, until = self.led
        return max(0.0, until - max(since, when))

    def sure_since(self, when: float) -> bool:
        """Whether whoever writes now must have known what was there then."""
        return self.settled(when) or self.led_since(when) > self.KNOWN

    def settled(self, when: float) -> bool:
        """Whether the operator that leads now led then already, for so long that no other one that was paused writes yet."""
        return self.led[0] + self.SETTLED < when

    def places(self) -> set[str]:
        """Names of the nodes that this is about."""
        found = set()
        for side in (self.before, self.after):
            if self.kind == "nodes" and side:
                found.add(side.name)
            elif self.kind == "gpujobs" and side:
                found |= side.places()
            elif self.kind == "pods" and side:
                found.add(side.node)
            elif self.kind == "gpunodes":
                found.add(side[0])
        return found


class Rule:
    """look() is called after each change, with the cluster as it then was, and says what is wrong."""

    name = ""
    LIMIT = 0.0  # seconds in which something has to be put right, for rules that give time

    def __init__(self) -> None:
        self.checked = 0  # how often something was there that could have been wrong

    def look(self, change: Change, state: State) -> Iterator[str]:
        """change: a Change. Complaints."""
        raise NotImplementedError


class NodeRule(Rule):
    """About each node whose own state, jobs or pods have changed."""

    def look(self, change: Change, state: State) -> Iterator[str]:
        for name in sorted(change.places()):
            if name in state.nodes:
                yield from self.look_at(state.nodes[name], state)

    def look_at(self, node: Node, state: State) -> Iterator[str]:
        raise NotImplementedError
