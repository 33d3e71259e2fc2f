# SPDX-License-Identifier: Apache-2.0
"""carry-git-tool against git's own http-backend.

  [BUILD_DIR=FOLDER] python3 -m unittest tests.data.test_git

Needs a finished build with carry-git-tool, and git, tar and openssl.
"""

import json
import os
import random
import shutil
import ssl
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

from tests.data.git_repository import Repository
from tests.data.git_server import GitServer
from tests.kit.paths import program

MISSING = "1" * 40
BIG = 100 << 20
MIB = 1 << 20


def listed(folder: Path) -> dict[str, tuple[str, bytes]]:
    """Path: (kind, content)"""
    found: dict[str, tuple[str, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            entry = ("link", os.readlink(path).encode())
        elif path.is_dir():
            entry = ("directory", b"")
        else:
            entry = ("program" if path.stat().st_mode & 0o100 else "file", path.read_bytes())
        found[str(path.relative_to(folder))] = entry
    return found


class GitCase(unittest.TestCase):
    """A folder with repositories, their server, and the tool."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gpupool-git-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("served", "root", "scratch", "secret"):
            (self.folder / name).mkdir()
        self.repository = Repository(self.folder / "served" / "r.git")
        self.server = self.enterContext(GitServer(self.folder / "served"))

    def usual(self) -> str:
        """A commit with all kinds of entries, and with a parent that must not come."""
        own = self.repository
        text, script = own.blob(b"text\n"), own.blob(b"#!/bin/sh\n")
        inner = own.tree(("100644", text, "a.txt"), ("120000", own.blob(b"../run"), "up"))
        tree = own.tree(("040000", inner, "dir"), ("100755", script, "run"), ("120000", own.blob(b"dir/a.txt"), "link"),
                        ("160000", MISSING, "module"), ("100644", own.blob("ä".encode()), "ä.txt"),
                        ("100644", own.blob(b""), "empty"), ("100644", own.blob(b"\0" * 200_000), "zeros"))
        return own.commit(tree, own.commit(own.tree(("100644", own.blob(b"old"), "old"))))

    def fetch(self, commit: str, **more: Any) -> dict[str, Any]:
        asked = {"url": self.server.url("r.git"), "commit": commit, "root": str(self.folder / "root"), "path": "code/tree",
                 "scratch": str(self.folder / "scratch"), "deadlineMs": 20_000, **more}
        done = subprocess.run([program("carry-git-tool")], input=json.dumps(asked), stdout=subprocess.PIPE, text=True,
                              check=True, timeout=60, env={"PATH": os.environ["PATH"]})
        self.assertEqual(list((self.folder / "scratch").iterdir()), [], "something is left in scratch")
        answer = json.loads(done.stdout)
        if "failure" in answer:
            self.assertEqual(answer["left"], more.get("budget", 1 << 30))
            self.assertFalse((self.folder / "root" / "code" / "tree").exists())
            self.assertEqual([*self.folder.rglob("*.gpupool-part")], [])
        return dict(answer)

    def fetched(self, commit: str, **more: Any) -> dict[str, Any]:
        answer = self.fetch(commit, **more)
        self.assertNotIn("failure", answer, answer["message"])
        return answer

    def refused(self, kind: str, words: str, commit: str, **more: Any) -> str:
        answer = self.fetch(commit, **more)
        self.assertEqual(answer.get("failure"), kind, answer["message"])
        self.assertIn(words, answer["message"])
        return str(answer["message"])

    def secret(self, **keys: str) -> str:
        for name, value in keys.items():
            (self.folder / "secret" / name.replace("_", ".")).write_text(value, encoding="utf-8")
        return str(self.folder / "secret")

    def assert_tree(self, commit: str, *options: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.repository.unpack(commit, Path(folder) / "x", *options)
            self.assertEqual(listed(self.folder / "root" / "code" / "tree"), listed(Path(folder) / "x"))


class Trees(GitCase):
    """What is written."""

    def test_the_tree_is_that_of_git_archive(self) -> None:
        commit = self.usual()
        answer = self.fetched(commit)
        self.assert_tree(commit)
        self.assertEqual(answer["digest"], f"git:{commit}")
        self.assertEqual(answer["files"], 7)
        self.assertEqual(answer["bytes"], 5 + 10 + 2 + 200_000)
        self.assertEqual(answer["left"], (1 << 30) - answer["bytes"])
        self.assertEqual(answer["message"], "1 submodule is left out: module")
        modes = {path.name: path.stat().st_mode & 0o7777 for path in (self.folder / "root/code/tree").iterdir()}
        self.assertEqual((modes["run"], modes["empty"], modes["dir"]), (0o777, 0o666, 0o777))

    def test_an_older_tree_is_replaced(self) -> None:
        old = self.folder / "root" / "code" / "tree"
        (old / "old").mkdir(parents=True)
        commit = self.usual()
        self.fetched(commit)
        self.assert_tree(commit)

    def test_a_tag_is_its_commit(self) -> None:
        commit = self.usual()
        self.repository.git("tag", "-a", "-m", "tag", "v1", commit)
        tag = self.repository.git("rev-parse", "v1")
        self.assertNotEqual(tag, commit)
        self.assertEqual(self.fetched(tag)["digest"], f"git:{commit}")
        self.assert_tree(commit)

    def test_a_tree_or_a_file_is_no_commit(self) -> None:
        commit = self.usual()
        self.refused("invalid", "is neither a commit nor a tag of one", self.repository.git("rev-parse", f"{commit}:dir"))

    def test_a_subdirectory(self) -> None:
        own = self.repository
        deep = own.tree(("100644", own.blob(b"deep"), "f"), ("120000", own.blob(b"f"), "l"))
        commit = own.commit(own.tree(("040000", own.tree(("040000", deep, "b")), "a"), ("100644", own.blob(b"x"), "x")))
        self.fetched(commit, subdirectory="a/b")
        self.assert_tree(f"{commit}:a/b")

    def test_a_missing_subdirectory(self) -> None:
        commit = self.usual()
        self.refused("not found", f"commit {commit} has no directory dir/none", commit, subdirectory="dir/none")
        self.refused("invalid", "dir/a.txt is no directory", commit, subdirectory="dir/a.txt")
        self.refused("invalid", "git.subdirectory: a path ../x has the part ..", commit, subdirectory="../x")

    def test_a_link_out_of_the_subdirectory_is_refused(self) -> None:
        self.refused("invalid", "file up of commit", self.usual(), subdirectory="dir")

    def test_paths_and_links_that_no_tree_may_have(self) -> None:
        own = self.repository
        blob = own.blob(b"x")
        inner = own.tree(("100644", blob, "config"))
        for words, entry in (("no path may have the part .git", ("040000", inner, ".git")),
                             ("no path may have the part .git", ("040000", inner, ".GiT")),
                             ("has the part ..", ("040000", inner, "..")), ("has a slash", ("100644", blob, "a/b")),
                             ("has a control character", ("100644", blob, "a\x1bb")),
                             ("link to /etc/passwd, which is outside", ("120000", own.blob(b"/etc/passwd"), "l")),
                             ("link to .., which is outside", ("120000", own.blob(b".."), "l"))):
            with self.subTest(entry=entry):
                self.refused("invalid", words, own.commit(own.raw_tree(entry)))

    def test_a_file_through_a_link_is_refused(self) -> None:
        own = self.repository
        inner = own.tree(("100644", own.blob(b"x"), "f"))
        tree = own.raw_tree(("120000", own.blob(b"."), "l"), ("040000", inner, "l"))
        answer = self.fetch(own.commit(tree))
        self.assertFalse((self.folder / "root" / "f").exists())
        if "failure" not in answer:  # the directory has replaced the link
            self.assertEqual(listed(self.folder / "root/code/tree"), {"l": ("directory", b""), "l/f": ("file", b"x")})

    def test_pointers_of_lfs_are_told(self) -> None:
        own = self.repository
        pointer = own.blob(b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 5\n")
        answer = self.fetched(own.commit(own.tree(("100644", pointer, "model.bin"))))
        self.assertEqual(answer["message"], "1 file is a pointer of Git LFS, without the content")

    def test_an_empty_tree(self) -> None:
        self.assertEqual(self.fetched(self.repository.commit(self.repository.tree()))["files"], 0)
        self.assertEqual(listed(self.folder / "root/code/tree"), {})

    def test_the_budget_counts(self) -> None:
        own = self.repository
        commit = own.commit(own.tree(("100644", own.blob(b"\0" * 300_000), "zeros")))
        self.refused("too large", "file zeros of commit", commit, budget=299_999)
        self.assertEqual(self.fetched(commit, budget=300_000)["left"], 0)
        random_bytes = own.commit(own.tree(("100644", own.blob(random.Random(1).randbytes(300_000)), "random")))
        shutil.rmtree(self.folder / "root" / "code")
        self.refused("too large", "has more than 200000 bytes, twice", random_bytes, budget=100_000)

    def test_a_large_pack_needs_little_memory(self) -> None:
        own, source, entries = self.repository, random.Random(2), []
        for setting in ("core.compression=0", "pack.window=0"):  # the server's own work is not what is looked at
            own.git("config", *setting.split("="))
        for number in range(100):
            entries.append(("100644", own.blob(source.randbytes(BIG // 100)), f"blob-{number:03}"))
        commit = own.commit(own.tree(*entries))
        answer = self.fetched(commit)
        self.assertEqual(answer["bytes"], BIG // 100 * 100)
        self.assertIn(answer["maxRssKiB"], range(1, 32 << 10))
        print(f"\n100 MiB in 100 files: {answer['maxRssKiB'] / 1024:.1f} MiB of memory")
        self.assert_tree(commit)

    def test_a_lost_commit(self) -> None:
        commit = self.usual()
        self.repository.commit(self.repository.tree())  # the branch is now elsewhere
        self.fetched(commit)
        shutil.rmtree(self.folder / "root" / "code")
        self.repository.git("reflog", "expire", "--expire=now", "--all")
        self.repository.git("gc", "--quiet", "--prune=now")
        self.refused("not found", f"has no commit {commit}; it may have been force-pushed away", commit)


class Servers(GitCase):
    """What servers say and do."""

    def test_names_that_are_no_commits(self) -> None:
        for name in ("main", MISSING[:12], MISSING.replace("1", "A"), ""):
            self.refused("invalid", "must be the whole name of a commit", name)
        self.refused("invalid", "SHA-256", "1" * 64)
        self.assertEqual(self.server.asked, [])

    def test_a_repository_with_sha256(self) -> None:
        Repository(self.folder / "served" / "s.git", "--object-format=sha256")
        self.refused("invalid", "by another hash than SHA-1", MISSING, url=self.server.url("s.git"))

    def test_no_repository(self) -> None:
        self.refused("not found", "there is no repository", MISSING, url=self.server.url("none.git"))

    def test_no_git(self) -> None:
        self.server.page = "<html>Sign in</html>"
        self.refused("invalid", "does not speak git protocol 2 at this URL", MISSING)

    def test_an_old_protocol(self) -> None:
        self.server.old_protocol = True
        self.refused("invalid", "does not speak git protocol 2 at this URL", self.usual())

    def test_an_error_line_is_told(self) -> None:
        self.server.error_line = "no such \x1b[31mthing " + "x" * 300
        message = self.refused("invalid", "refuses commit", self.usual())
        self.assertIn("no such [31mthing", message)
        self.assertNotIn("x" * 190, message)

    def test_a_user_in_the_url_is_not_shown(self) -> None:
        url = self.server.url("r.git").replace("://", "://me:hidden@")
        self.assertNotIn("hidden", self.refused("invalid", "has a user or a password", MISSING, url=url))
        self.assertEqual(self.server.asked, [])

    def test_basic(self) -> None:
        commit, self.server.basic = self.usual(), ("me", "pass word")
        self.refused("denied", "name a Secret in the item", commit)
        message = self.refused("denied", "does not take the credentials", commit,
                               secret=self.secret(username="me", password="wrong"))
        self.assertNotIn("wrong", message)
        self.fetched(commit, secret=self.secret(username="me", password="pass word\n"))
        self.assert_tree(commit)

    def test_token(self) -> None:
        commit, self.server.token = self.usual(), "t0ken"
        self.refused("denied", "status 401", commit, secret=self.secret(token="wrong"))
        self.fetched(commit, secret=self.secret(token="t0ken\n"))
        self.server.token_is_password = True
        del self.server.asked[:]
        self.fetched(commit, secret=self.secret(token="t0ken"))
        self.assertEqual([asked.method for asked in self.server.asked], ["GET", "GET", "POST"])

    def test_bad_secrets(self) -> None:
        secret = str(self.folder / "secret")
        self.refused("invalid", "none of the keys", MISSING, secret=secret)
        self.refused("invalid", "neither password nor token", MISSING, secret=self.secret(username="me"))
        message = self.refused("invalid", "line break", MISSING, secret=self.secret(password="hid\nden"))
        self.assertNotIn("hid", message)

    def test_a_redirect_is_followed(self) -> None:
        commit, self.server.token = self.usual(), "t0ken"
        with GitServer(self.folder / "served") as old:
            old.redirect = self.server.url("r.git") + "/info/refs?service=git-upload-pack"
            self.refused("denied", "the credentials were not sent", commit, url=old.url("old.git"),
                         secret=self.secret(token="t0ken"))
            self.assertEqual(old.asked[0].authorization, "Bearer t0ken")
            self.assertEqual(self.server.asked[-1].authorization, "")
            self.server.token = None
            self.fetched(commit, url=old.url("old.git"))
            self.assertEqual([asked.method for asked in old.asked], ["GET", "GET"])
        self.assert_tree(commit)

    def test_redirects_end(self) -> None:
        self.server.redirect = "/r.git/info/refs?service=git-upload-pack"
        self.refused("invalid", "more than 5 redirects", MISSING)
        self.assertEqual(len(self.server.asked), 6)
        self.server.redirect = "https://example.com/login"
        self.refused("invalid", "redirects to what is no git repository", MISSING)

    def test_what_passes_is_tried_again(self) -> None:
        commit = self.usual()
        for name, value in (("statuses", [429]), ("statuses", [503]), ("cut_after", 200), ("cut_after", 40),
                            ("end_after", 200), ("stalls", 1)):
            with self.subTest(name):
                shutil.rmtree(self.folder / "root" / "code", ignore_errors=True)
                del self.server.asked[:]
                setattr(self.server, name, value)
                self.fetched(commit, idleMs=500 if name == "stalls" else 60_000, waitMs=20)
                self.assertGreater(len(self.server.asked), 2)
        self.assert_tree(commit)

    def test_until_the_deadline(self) -> None:
        self.server.statuses = [503] * 100
        self.refused("unavailable", "answers with status 503; given up after 1 try", MISSING, waitMs=30_000)
        self.server.statuses, self.server.retry_after = [429], "3600"
        self.refused("unavailable", "answers with status 429; given up after 1 try", MISSING)

    def test_an_answer_without_its_end_is_told(self) -> None:
        commit, self.server.end_after = self.usual(), 200
        self.refused("unavailable", "ends within its pack; given up after 1 try", commit, waitMs=30_000)

    def test_nobody_listens(self) -> None:
        with GitServer(self.folder / "served") as gone:
            url = gone.url("r.git")
        self.refused("unavailable", "given up after 1 try", MISSING, url=url, deadlineMs=500)


class Tls(GitCase):
    """Certificates."""

    def test_certificates(self) -> None:
        commit, certificate = self.usual(), self.folder / "ca.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", self.folder / "key.pem", "-out", certificate, "-subj", "/CN=test", "-days", "2",
                        "-addext", "subjectAltName=IP:127.0.0.1"], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, self.folder / "key.pem")
        with GitServer(self.folder / "served", context) as server:
            url = server.url("r.git")
            self.refused("invalid", "certificate", commit, url=url)
            self.refused("invalid", "certificate", commit, url=url, secret=self.secret(ca_crt="no certificate"))
            secret = self.secret(ca_crt=certificate.read_text(encoding="utf-8"))
            self.refused("invalid", "certificate", commit, url=url.replace("127.0.0.1", "localhost"), secret=secret)
            self.fetched(commit, url=url, secret=secret)
            server.redirect = self.server.url("r.git") + "/info/refs?service=git-upload-pack"
            shutil.rmtree(self.folder / "root" / "code")
            self.refused("invalid", "redirects from https to http", commit, url=url, secret=secret)
        self.assertEqual(self.server.asked, [])


if __name__ == "__main__":
    unittest.main()
