# SPDX-License-Identifier: Apache-2.0
"""Saves the logs of a failed run in build/logs: temporary folders do not survive it."""

import os
import shutil

from tests.kit.paths import ROOT

LOGS = os.path.join(ROOT, "build", "logs")


def save_artifacts(name: str, files: list[str], **texts: str) -> str:
    """The folder that now has copies of these files, as far as they exist, and a file of each text; nothing older."""
    folder = os.path.join(LOGS, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path in files:
        if os.path.exists(path):
            shutil.copy(path, folder)
    for what, text in texts.items():
        with open(os.path.join(folder, what), "w", encoding="utf-8") as file:
            file.write(text + "\n")
    return folder
