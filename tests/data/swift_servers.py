# SPDX-License-Identifier: Apache-2.0
# mypy: disable-error-code="import"
"""The four servers of OpenStack Swift in one folder, with one replica of everything. Runs with Swift's packages on
PYTHONPATH, ends with its parent, and takes them along.

Usage: swift_servers.py FOLDER PROXY_PORT ACCOUNT_PORT CONTAINER_PORT OBJECT_PORT
       swift_servers.py FOLDER add BUCKET    names of objects on standard input, one a line: only the listing has them
"""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import swift.account.server
import swift.common.middleware.s3api.s3api
import swift.common.middleware.tempauth
import swift.container.server
import swift.obj.server
import swift.proxy.server  # noqa: F401
from swift.common import utils
from swift.common.ring import RingBuilder

PR_SET_PDEATHSIG = 1
SERVERS = ("proxy", "account", "container", "object")
COMMON = "[DEFAULT]\nbind_ip = 127.0.0.1\nbind_port = {port}\nworkers = 0\nswift_dir = {folder}\ndevices = {folder}\n" \
         "mount_check = false\nlog_level = CRITICAL\nrecon_cache_path = {folder}\nlock_path = {folder}\n"
BACKEND = COMMON + "[pipeline:main]\npipeline = {name}-server\n[app:{name}-server]\nuse = egg:swift#{name}\n" \
                   "recon_cache_path = {folder}\nthreads_per_disk = 1\n"
PROXY = COMMON + """[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats s3api tempauth copy slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
check_bucket_owner = false
[filter:tempauth]
use = egg:swift#tempauth
user_{user} = {secret} .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""
USER = "test_tester"
SECRET = "testing"


def write_ring(folder: Path, name: str, port: int) -> None:
    builder = RingBuilder(2, 1, 0)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "weight": 1, "ip": "127.0.0.1", "port": port, "device": "disk"})
    builder.rebalance()
    builder.get_ring().save(str(folder / f"{name}.ring.gz"))


def write_configuration(folder: Path, ports: dict[str, int]) -> None:
    (folder / "disk").mkdir()
    (folder / "swift.conf").write_text("[swift-hash]\nswift_hash_path_suffix = test\n"
                                       "[storage-policy:0]\nname = one\ndefault = yes\n")
    for name, port in ports.items():
        text = PROXY if name == "proxy" else BACKEND
        (folder / f"{name}.conf").write_text(text.format(name=name, port=port, folder=folder, user=USER, secret=SECRET))
        if name != "proxy":
            write_ring(folder, name, port)


def die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def serve(folder: Path, name: str) -> None:
    from swift.common.wsgi import run_wsgi
    sys.exit(run_wsgi(str(folder / f"{name}.conf"), f"{name}-server"))


def add_names(folder: Path, bucket: str, names: list[str]) -> None:
    from swift.common.utils import Timestamp
    from swift.container.backend import ContainerBroker
    now = time.time()
    for database in folder.glob("disk/containers/*/*/*/*.db"):
        broker = ContainerBroker(str(database), skip_commits=True)
        if broker.get_info()["container"] == bucket:
            broker.merge_items([{"name": name, "created_at": Timestamp(now).internal, "size": 3, "deleted": 0,
                                 "content_type": "text/plain", "etag": "900150983cd24fb0d6963f7d28e17f72",
                                 "storage_policy_index": 0} for name in names])
            return
    sys.exit(f"there is no bucket {bucket}")


def main() -> None:
    folder = Path(sys.argv[1])
    if sys.argv[2] == "add":
        utils.set_swift_dir(str(folder))
        return add_names(folder, sys.argv[3], sys.stdin.read().splitlines())
    die_with(os.getppid())
    write_configuration(folder, dict(zip(SERVERS, map(int, sys.argv[2:]))))
    utils.set_swift_dir(str(folder))
    own = os.getpid()
    for name in SERVERS:
        if os.fork() == 0:
            die_with(own)
            serve(folder, name)
    os.wait()  # one has ended, which none should
    sys.exit(1)


main()
