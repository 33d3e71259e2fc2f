"""Calls in the name of somebody else, with nothing but his rights."""

from .api import Api


class AsUser(Api):
    """The administrator's connection, impersonating a user."""

    def __init__(self, admin, name, *groups):
        super().__init__(admin.path)
        self._identity = [("Impersonate-User", name)] + [("Impersonate-Group", g) for g in groups]

    def _send(self, method, path, data, headers):
        # A dict holds one group only, and no user here has more.
        return super()._send(method, path, data, {**headers, **dict(self._identity)})


def as_kubelet(admin, node):
    """What whoever is root on that machine can do."""
    return AsUser(admin, "system:node:" + node, "system:nodes")
