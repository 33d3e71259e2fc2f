# SPDX-License-Identifier: Apache-2.0
"""What tests of the keeper share: namespaces, users with tokens, and a keeper."""

import tempfile
import unittest
import uuid
from typing import Any

from tests.keeper.keeper_server import KeeperServer
from tests.keeper.push_client import HAVE, PushClient, chunk
from tests.keeper.pushing_launcher import PushingLauncher
from tests.kit.api import Api
from tests.kit.readers import token_of

RBAC = "/apis/rbac.authorization.k8s.io/v1"


class KeeperCase(unittest.TestCase):
    kubeconfig: str  # set by tests/keeper/run
    api: Api
    mark: str  # begins the names of what these tests make
    ns: str
    keeper: KeeperServer
    token: str  # of somebody who may read in `ns`
    flags: tuple[str, ...] = ()  # of the keeper

    @classmethod
    def setUpClass(cls) -> None:
        cls.api = Api(cls.kubeconfig)
        cls.mark = f"keeper-{uuid.uuid4().hex[:8]}"
        cls.ns = cls.make_namespace("ours")
        cls.api.call("POST", f"{RBAC}/clusterroles", {
            "metadata": {"name": cls.mark}, "rules": [{"apiGroups": ["gpupool.dev"], "resources": ["gpujobs/log"], "verbs": ["get"]}]})
        cls.addClassCleanup(cls.api.call, "DELETE", f"{RBAC}/clusterroles/{cls.mark}")
        cls.token = cls.user("reader", cls.ns)
        cls.keeper = KeeperServer(cls.kubeconfig, *cls.flags)
        cls.addClassCleanup(cls.keeper.close)

    @classmethod
    def make_namespace(cls, name: str) -> str:
        ns = f"{cls.mark}-{name}"
        cls.api.create("namespaces", {"metadata": {"name": ns}})
        cls.addClassCleanup(cls.api.delete, "namespaces", ns)
        return ns

    @classmethod
    def user(cls, name: str, *may_read_in: str) -> str:
        """The token of a new user."""
        cls.api.create("serviceaccounts", {"metadata": {"name": name, "namespace": cls.ns}})
        for ns in may_read_in:
            cls.allow(name, ns)
        return token_of(cls.api, cls.ns, name)

    @classmethod
    def allow(cls, name: str, ns: str) -> None:
        cls.api.call("POST", f"{RBAC}/namespaces/{ns}/rolebindings", {
            "metadata": {"name": name}, "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": cls.ns}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": cls.mark}})

    def folder(self) -> str:
        made = tempfile.TemporaryDirectory(prefix="gpupool-keeper-test-")
        self.addCleanup(made.cleanup)
        return made.name

    def uid(self) -> str:
        return str(uuid.uuid4())

    def launcher(self, uid: str, command: list[str], **more: Any) -> PushingLauncher:
        started = PushingLauncher(self.keeper, more.pop("folder", None) or self.folder(), more.pop("ns", self.ns), uid, command, **more)
        self.addCleanup(started.process.wait, 60)
        self.addCleanup(started.process.kill)
        return started

    def client(self) -> PushClient:
        made = PushClient(self.keeper.port)
        self.addCleanup(made.close)
        return made

    def entered(self, uid: str, **members: Any) -> PushClient:
        client = self.client()
        kind, answer = client.enter(members.pop("ns", self.ns), uid, **members)
        self.assertEqual(kind, HAVE, answer)
        return client

    def stored(self, uid: str, text: str, ns: str = "", **members: Any) -> None:
        """An attempt that has ended."""
        client = self.entered(uid, ns=ns or self.ns, **members)
        client.frame(0, chunk(text.encode()))
        client.end()
        client.close()
