# SPDX-License-Identifier: Apache-2.0
"""For tests that look at what the operator sends, or that keep it from the server."""

import tempfile

from tests.integration.operator.api_proxy import ApiProxy
from tests.kit.operator_process import OperatorProcess
from tests.kit.paths import operator_binary
from tests.kit.played.case import FakeClusterCase


class ProxyCase(FakeClusterCase):
    """Instead of the operator of other tests one behind a proxy."""

    def setUp(self):
        super().setUp()
        self.operator.stop()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.proxy = ApiProxy(self.api, self.folder.name, "proxied")
        self.proxied = OperatorProcess(operator_binary(), self.proxy.kubeconfig, self.operator.log_path + ".proxied")
        self._proxied_begin = self.proxied.log_size()
        self.proxied.start()

    def clean(self):
        if self.proxied.running():
            self.proxied.kill()
        self.proxy.close()
        super().clean()
        self.assertEqual([], self.proxied.endless_reconciles(self._proxied_begin)[:3])

    def writes(self):
        return self.proxy.writes_since(0)
