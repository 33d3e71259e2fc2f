# SPDX-License-Identifier: Apache-2.0
"""A test with a browser, which all tests of a run share."""

import unittest

from tests.page.browser import Browser, Page
from tests.page.stub_server import Plays, StubServer


class PageCase(unittest.TestCase):
    browser: Browser  # set by tests/page/run

    def page(self) -> Page:
        page = self.browser.new_page()
        self.addCleanup(page.close)
        page.size(1280, 900)
        return page

    def stub(self, plays: Plays) -> StubServer:
        server = StubServer(plays)
        server.__enter__()
        self.addCleanup(server.__exit__)
        return server

    def assert_no_complaints(self, page: Page) -> None:
        page.run("1")
        self.assertEqual([], page.complaints())
