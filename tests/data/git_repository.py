# SPDX-License-Identifier: Apache-2.0
"""Makes git repositories for tests."""

import os
import subprocess
from pathlib import Path
from typing import Any

ENVIRONMENT = {
    "PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com", "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


class Repository:
    """A bare repository, into which commits are written without a work tree."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", *options, str(path)], check=True,
                       env=ENVIRONMENT)

    def git(self, *arguments: str, text: bytes = b"") -> str:
        done = subprocess.run(["git", f"--git-dir={self.path}", *arguments], input=text, stdout=subprocess.PIPE,
                              check=True, env=ENVIRONMENT)
        return done.stdout.decode().strip()

    def blob(self, content: bytes) -> str:
        return self.git("hash-object", "-w", "--stdin", text=content)

    def tree(self, *entries: tuple[str, str, str]) -> str:
        """Of (mode, object, name)."""
        kinds = {"040000": "tree", "160000": "commit"}
        lines = [f"{mode} {kinds.get(mode, 'blob')} {name}\t{path}" for mode, name, path in entries]
        return self.git("mktree", "--missing", text="\n".join(lines).encode() + b"\n" if lines else b"")

    def raw_tree(self, *entries: tuple[str, str, str]) -> str:
        """A tree that git would not make."""
        body = b"".join(f"{mode.lstrip('0')} {path}".encode() + b"\0" + bytes.fromhex(name) for mode, name, path in entries)
        return self.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", text=body)

    def commit(self, tree: str, *parents: str, branch: str = "main") -> str:
        """The new tip of the branch."""
        options: list[str] = []
        for parent in parents:
            options += ["-p", parent]
        commit = self.git("commit-tree", *options, "-m", "commit", tree)
        self.git("update-ref", f"refs/heads/{branch}", commit)
        return commit

    def unpack(self, commit: str, to: Path, *options: Any) -> None:
        """git archive COMMIT | tar x"""
        to.mkdir()
        with subprocess.Popen(["git", f"--git-dir={self.path}", "archive", commit, *options], stdout=subprocess.PIPE,
                              env=ENVIRONMENT) as archive:
            subprocess.run(["tar", "x", "-C", str(to)], stdin=archive.stdout, check=True)
