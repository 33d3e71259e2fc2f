# SPDX-License-Identifier: Apache-2.0
"""Checks what the harness does when inotify instances run out, without changing the machine."""

import os
import subprocess
import sys
import tempfile

from tests.cluster.harness import inotify
from tests.cluster.harness.errors import ClusterError
from tests.kit.checks import Checks
from tests.kit.paths import ROOT

# In a user namespace with so few instances that nobody else notices.
FEW = 3
COUNT = "from tests.cluster.harness import inotify; print(inotify.free(20))"


def counted_in_a_small_namespace() -> str:
    script = f'echo {FEW} > /proc/sys/user/max_inotify_instances && exec "$@"'
    done = subprocess.run(["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", sys.executable, "-B", "-c",
                           COUNT], capture_output=True, text=True, check=False, cwd=ROOT)
    return done.stdout.strip() or done.stderr


def ensured(limit_file: str, nodes: int) -> tuple[list[str], str | None]:
    """(what was told, error)"""
    told = []
    try:
        inotify.ensure(nodes, told.append, limit_file)
    except ClusterError as error:
        return told, str(error)
    return told, None


def check(report: Checks) -> None:
    report.check("inotify: free instances are counted", counted_in_a_small_namespace() == str(FEW),
                 counted_in_a_small_namespace())
    real = inotify.free
    with tempfile.TemporaryDirectory() as folder:
        limit, log = os.path.join(folder, "limit"), os.path.join(folder, "kubelet-na")
        with open(limit, "w", encoding="ascii") as out:
            out.write("128\n")
        with open(log, "w", encoding="ascii") as out:
            out.write("Starting\nfailed to start plugin watcher: too many open files\nStarted\n")
        try:
            inotify.free = lambda wanted: wanted
            report.check("inotify: with enough of them nothing is done", ensured(limit, 3) == ([], None))
            answers = iter((5, 52))
            inotify.free = lambda wanted: next(answers)
            told, error = ensured(limit, 3)
            with open(limit, encoding="ascii") as source:
                report.check("inotify: with too few the limit grows, and that is said", source.read() == "232"
                             and error is None and "5 of 52" in told[0] and "from 128 to 232" in told[0], (told, error))
            inotify.free = lambda wanted: 5
            _, error = ensured(limit, 3)
            report.check("inotify: if that does not help, it is an error", error and "also after" in error, error)
            _, error = ensured("/proc/sys/kernel/ngroups_max", 3)  # may be read only, whoever asks
            report.check("inotify: a limit that cannot be raised is an error that says what to do",
                         error and "raise fs.inotify.max_user_instances" in error, error)
        finally:
            inotify.free = real
        found = inotify.complaints(log)
        report.check("inotify: the kubelet's own complaint is found",
                     found == "\nkubelet-na: failed to start plugin watcher: too many open files", found)
