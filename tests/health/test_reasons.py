# SPDX-License-Identifier: Apache-2.0
"""Every reason is written down once in the sources, and explained in docs/operations.md."""

import os
import re
import unittest

from tests.kit.paths import ROOT, cpp_header

DOCUMENT = os.path.join(ROOT, "docs", "operations.md")
# Words of Kubernetes or of code that are also the value of a reason.
SHARED = {"DeadlineExceeded", "Deleted", "Suspended"}


def typed_reasons() -> dict[str, set[str]]:
    """{namespace of the header: its reasons}: reason, condition_reason, event."""
    header = cpp_header("reasons.h").read_text(encoding="utf-8")
    blocks = re.findall(r"namespace gpupool::api::(\w+) \{(.*?)\n\}", header, re.S)
    return {name: set(re.findall(r'constexpr char k\w+\[\] =\s+"(\w+)"', block)) for name, block in blocks}


def sources() -> list[str]:
    return [os.path.join(folder, name) for folder, _, names in os.walk(os.path.join(ROOT, "operator")) for name in names
            if name.endswith((".cc", ".h"))]


class ReasonTest(unittest.TestCase):
    def test_the_document_explains_each(self) -> None:
        with open(DOCUMENT, encoding="utf-8") as document:
            explained = set(re.findall(r"`(\w+)`", document.read()))
        for namespace, reasons in typed_reasons().items():
            with self.subTest(namespace=namespace):
                self.assertGreater(len(reasons), 5)
                self.assertEqual(set(), reasons - explained, "reasons that docs/operations.md does not name")

    def test_no_source_spells_one_out(self) -> None:
        every = set().union(*typed_reasons().values()) - SHARED
        for source in sources():
            with open(source, encoding="utf-8") as text:
                spelled = every.intersection(re.findall(r'"(\w+)"', text.read()))
            self.assertEqual(set(), spelled, f"{os.path.relpath(source, ROOT)} does not use reasons.h")

    def test_events_and_notes_have_typed_reasons(self) -> None:
        bare = re.compile(r'(?:Note\{|Note\(\{|tell\([^;]*?\{)\s*(?:true|false),\s*"', re.S)
        for source in sources():
            with open(source, encoding="utf-8") as text:
                self.assertIsNone(bare.search(text.read()), f"{os.path.relpath(source, ROOT)}: a reason that is not typed")
