# SPDX-License-Identifier: Apache-2.0
"""The page's server reads the logs of jobs without pods from the keeper, with the visitor's token."""

import http.client
import json
import ssl
from typing import Any

from tests.keeper.keeper_case import RBAC, KeeperCase
from tests.keeper.push_client import chunk
from tests.kit.manifests import job_manifest
from tests.page.access_case import WebServer

JOBS = "/apis/gpupool.dev/v1alpha1/namespaces/{}/gpujobs/{}"


class PageTest(KeeperCase):
    web: WebServer

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.web = WebServer(cls.api, "--keeper", f"https://127.0.0.1:{cls.keeper.readers_port}", "--keeper-ca", cls.keeper.certificate)
        cls.addClassCleanup(cls.web.close)
        cls.api.call("POST", f"{RBAC}/clusterroles", {"metadata": {"name": f"{cls.mark}-jobs"}, "rules": [
            {"apiGroups": ["gpupool.dev"], "resources": ["gpujobs"], "verbs": ["get", "list", "watch"]},
            {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list", "watch"]}]})
        cls.addClassCleanup(cls.api.call, "DELETE", f"{RBAC}/clusterroles/{cls.mark}-jobs")

    def visitor(self, name: str, *more: str) -> str:
        """The token of somebody who sees jobs and pods. more: namespaces in which he may read the keeper's logs."""
        token = self.user(name, *more)
        self.api.call("POST", f"{RBAC}/namespaces/{self.ns}/rolebindings", {
            "metadata": {"name": f"{name}-jobs"}, "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": self.ns}],
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": f"{self.mark}-jobs"}})
        return token

    def ended_job(self, name: str, ranks: int) -> str:
        """The UID of a job with one attempt, whose pods are gone."""
        made: Any = self.api.create("gpujobs", job_manifest(name, self.ns, "pool", gpus=ranks))
        path = JOBS.format(self.ns, name)
        made["status"] = {"phase": "Succeeded", "reason": "Completed", "attempts": 1, "leaseSequence": 1, "finishTime": "2026-01-01T00:00:00Z"}
        self.api.call("PUT", f"{path}/status", made)
        uid: str = made["metadata"]["uid"]
        for rank in range(ranks):
            client = self.entered(uid, rank=rank, ranks=ranks, lease=1)
            client.frame(0, *(chunk(f"rank {rank} line {n}\n".encode(), unix_ns=(1_700_000_000 + n) * 10**9 + rank) for n in range(3)))
            client.end()
            client.close()
        return uid

    def messages(self, name: str, token: str) -> list[dict[str, Any]]:
        """What a tab that watches the job's log is told, until the log's end or an error."""
        trusted = ssl.create_default_context(cafile=self.web.certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.web.port, context=trusted, timeout=60)
        body = json.dumps({"topics": [{"id": "l", "namespace": self.ns, "name": name, "log": True, "tail": 100}]})
        connection.request("POST", "/api/stream", body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"})
        answer = connection.getresponse()
        found = []
        while True:
            message = json.loads(answer.readline())
            found.append(message)
            if message.get("end") or message.get("error"):
                connection.close()
                return found

    def test_stored_lines_are_shown_in_order(self) -> None:
        self.ended_job("ended", 2)
        told = self.messages("ended", self.visitor("visitor", self.ns))
        lines = [line for message in told for line in message.get("lines", [])]
        self.assertEqual([(line[0], line[2]) for line in lines], [(rank, f"rank {rank} line {n}") for n in range(3) for rank in range(2)])

    def test_without_the_right_the_page_says_so(self) -> None:
        self.ended_job("secret", 1)
        told = self.messages("secret", self.visitor("viewer"))
        self.assertEqual([line for message in told for line in message.get("lines", [])], [])
        self.assertIn("no keeper of logs has answered", json.dumps(told))
        self.assertIn("gpujobs/log", json.dumps(told))
