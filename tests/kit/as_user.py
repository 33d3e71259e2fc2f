# SPDX-License-Identifier: Apache-2.0
"""Calls the API server as another user, with that user's rights."""

from tests.kit.api import Api


class AsUser(Api):
    """The administrator's connection, impersonating a user."""

    def __init__(self, admin: Api, name: str, *groups: str) -> None:
        super().__init__(admin.path)
        self._identity = [("Impersonate-User", name)] + [("Impersonate-Group", g) for g in groups]

    def _send(self, method: str, path: str, data: str | None, headers: dict[str, str]) -> tuple[int, str]:
        # A dict holds one group only, and no user here has more.
        return super()._send(method, path, data, {**headers, **dict(self._identity)})


def as_kubelet(admin: Api, node: str) -> AsUser:
    """As root of that machine can call."""
    return AsUser(admin, "system:node:" + node, "system:nodes")
