# SPDX-License-Identifier: Apache-2.0
"""A real S3 server for tests: OpenStack Swift of Debian with its S3 API, not installed.

    with Swift() as s3:
        ... s3.endpoint, s3.key, s3.secret ...

The packages are downloaded once, to the cache. Nothing is left running, also if the test is killed.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from tests.kit.paths import cache_folder

# What Swift needs beyond the interpreter, and nothing of the machine's other Python packages.
PACKAGES = """
liberasurecode1 python3-certifi python3-cffi python3-cffi-backend python3-chardet python3-charset-normalizer
python3-cryptography python3-dnspython python3-eventlet python3-greenlet python3-idna python3-lxml python3-netifaces
python3-openssl python3-pastedeploy python3-pkg-resources python3-ply python3-pycparser python3-pyeclib python3-requests
python3-six python3-swift python3-tempita python3-urllib3 python3-xattr
""".split()
START_SECONDS = 30


def packages_root() -> Path:
    """The folder below which the packages are unpacked."""
    cache = cache_folder("swift")
    with open(cache / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        root = cache / f"root-{len(PACKAGES)}"
        if not root.exists():
            with tempfile.TemporaryDirectory(dir=cache) as folder:
                if _apt("download", *PACKAGES, folder=folder).returncode != 0:
                    _apt("update", folder=folder)  # the machine may have no lists of packages, or old ones
                    done = _apt("download", *PACKAGES, folder=folder)
                    if done.returncode != 0:
                        raise RuntimeError("Swift's packages cannot be downloaded: " + done.stderr[-2000:])
                for package in Path(folder).glob("*.deb"):
                    subprocess.run(["dpkg", "-x", package, f"{folder}/root"], check=True)
                os.rename(f"{folder}/root", root)
        return root


def _apt(*words: str, folder: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["apt-get", "-q", "-o", "Acquire::Retries=3", *words], cwd=folder, check=False, capture_output=True,
                          text=True)


def free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def folder_with_attributes() -> str:
    """A new folder where files can have user attributes, as Swift keeps its metadata there."""
    for base in (None, "/var/tmp", str(cache_folder("swift"))):
        folder = tempfile.mkdtemp(prefix="gpupool-swift-", dir=base)
        try:
            os.setxattr(folder, "user.test", b"1")
            return folder
        except OSError:
            shutil.rmtree(folder)
    raise RuntimeError("no file system here has user attributes")


class Swift:
    """The servers, from `with` to its end."""

    key = "test:tester"
    secret = "testing"

    def __enter__(self) -> "Swift":
        root = packages_root()
        libraries = ":".join(str(path) for path in root.glob("usr/lib/*-linux-gnu"))
        # -S: no packages of the machine; -P: none of this folder either.
        self.command = ["/usr/bin/python3", "-S", "-B", "-P", str(Path(__file__).with_name("swift_servers.py"))]
        self.environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": libraries,
                            "PYTHONPATH": str(root / "usr/lib/python3/dist-packages")}
        self.folder = folder_with_attributes()
        ports = free_ports(4)
        self.endpoint = f"http://127.0.0.1:{ports[0]}"
        self.log = open(f"{self.folder}/log", "w", encoding="utf-8")  # noqa: SIM115
        try:
            self.process = subprocess.Popen([*self.command, self.folder, *map(str, ports)], env=self.environment,
                                            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
            self._wait_until_ready(ports)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_unused: object) -> None:
        if process := getattr(self, "process", None):
            process.send_signal(signal.SIGKILL)  # its children end with it
            process.wait()
        self.log.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _wait_until_ready(self, ports: list[int]) -> None:
        """Each server must answer: the first shuns for a minute those of the others that did not."""
        opener = build_opener(ProxyHandler({}))
        end = time.monotonic() + START_SECONDS
        while ports and time.monotonic() < end and self.process.poll() is None:
            try:
                opener.open(f"http://127.0.0.1:{ports[0]}/", timeout=5).close()
            except HTTPError:
                ports = ports[1:]
            except OSError:
                time.sleep(0.05)
            else:
                ports = ports[1:]
        if ports:
            raise RuntimeError("Swift does not start: " + Path(self.folder, "log").read_text(encoding="utf-8")[-2000:])

    def add_names(self, bucket: str, names: list[str]) -> None:
        """Adds objects to the listing of a bucket, which cannot be read."""
        subprocess.run([*self.command, self.folder, "add", bucket], env=self.environment, input="\n".join(names),
                       text=True, check=True)
