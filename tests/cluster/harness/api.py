# SPDX-License-Identifier: Apache-2.0
"""A small client of the cluster's API server, for what the harness itself needs."""

import contextlib
import http.client
import json
import ssl
import time
from typing import Any

from tests.cluster.harness.errors import ClusterError, NoAnswerError, NotFoundError
from tests.cluster.harness.state import State
from tests.kit.api import Object

GET_TRIES = 3


class Api:
    """Calls as administrator. Not for several threads at once."""

    def __init__(self, state: State, timeout: float = 10.0) -> None:
        self._host = state.facts()["hub"]
        self._context = ssl.create_default_context(cafile=state.path("pki", "ca.crt"))
        self._context.load_cert_chain(state.path("pki", "admin.crt"), state.path("pki", "admin.key"))
        self._timeout = timeout

    def open(self, method: str, path: str, body: Any = None,
             content_type: str = "application/json") -> tuple[http.client.HTTPSConnection, http.client.HTTPResponse]:
        """The connection and its response, unread: for watches."""
        connection = http.client.HTTPSConnection(self._host, 443, timeout=self._timeout, context=self._context)
        data = None if body is None else json.dumps(body)
        try:
            connection.request(method, path, data, {"Content-Type": content_type, "Accept": "application/json"})
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def call(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        try:
            connection, response = self.open(method, path, body, content_type)
            with contextlib.closing(connection):
                text = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            raise NoAnswerError(f"{method} {path}: {error}") from error
        if response.status >= 300:
            kind = NotFoundError if response.status == 404 else ClusterError
            raise kind(f"{method} {path}: {response.status} {text[:300]}")
        return json.loads(text) if text.startswith("{") else text

    def get(self, path: str) -> Any:
        """On a busy machine an answer may come late: asked again."""
        for _ in range(GET_TRIES - 1):
            try:
                return self.call("GET", path)
            except NoAnswerError:
                time.sleep(0.5)
        return self.call("GET", path)

    def find(self, path: str) -> Object | None:
        """None if there is no such object."""
        try:
            return self.get(path)
        except NotFoundError:
            return None

    def is_ready(self) -> bool:
        try:
            return self.call("GET", "/readyz") == "ok"
        except ClusterError:
            return False
