"""What all rules have in common."""


class Rule:
    """look() is called after each change, with the cluster as it then was, and says what is wrong."""

    name = ""

    def __init__(self):
        self.checked = 0  # how often something was there that could have been wrong

    def look(self, change, state):
        """change: a Change. Complaints."""
        raise NotImplementedError


class NodeRule(Rule):
    """About each node whose own state, jobs or pods have changed."""

    def look(self, change, state):
        for name in sorted(change.places()):
            if name in state.nodes:
                yield from self.look_at(state.nodes[name], state)

    def look_at(self, node, state):
        raise NotImplementedError


class Change:
    def __init__(self, when, kind, before, after):
        self.when, self.kind, self.before, self.after = when, kind, before, after
        self.led = (0.0, 0.0)  # since when and until when somebody leads without a break

    def led_since(self, when):
        """For how many seconds since then, of those without a break until now."""
        since, until = self.led
        return max(0.0, until - max(since, when))

    def places(self):
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
