"""What a failed run leaves behind, where it survives: temporary folders do not."""

import os
import shutil

from support.operator_process import ROOT

LOGS = os.path.join(ROOT, "build", "logs")


def keep(name, files, **texts):
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
