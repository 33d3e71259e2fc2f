# SPDX-License-Identifier: Apache-2.0
"""What lets the program run in any image: size, no shared library, nothing else needed."""
import os
import shutil
import socket
import subprocess

from tests.launcher.dns_stub import A, NOERROR, DnsStub
from tests.launcher.launcher_case import HANG_LIMIT, LAUNCHER, LauncherCase
from tests.launcher.program_env import GANG


class Image(LauncherCase):
    def test_small_and_static(self):
        self.assertLess(os.path.getsize(LAUNCHER), 1_300_000)
        headers = subprocess.run(["readelf", "-lW", LAUNCHER], check=True, capture_output=True, text=True).stdout
        self.assertIn("LOAD", headers)
        self.assertNotIn("INTERP", headers)
        dynamic = subprocess.run(["readelf", "-d", LAUNCHER], check=True, capture_output=True, text=True).stdout
        self.assertNotIn("NEEDED", dynamic)

    def test_alone_in_a_root_directory(self):
        """Install, wait for a master by name, run a program (itself) and keep its result: no /proc, /dev or libc."""
        self.require_root()
        root = self.dir / "root"
        for name in ("etc", "gpupool"):
            (root / name).mkdir(parents=True)
        shutil.copy(LAUNCHER, root / "launch")
        pid = os.getpid()
        ip = f"127.{128 + pid // 65536 % 64}.{pid // 256 % 256}.{pid % 256}"
        (root / "etc/resolv.conf").write_text(f"nameserver {ip}\nsearch ns.svc\n")
        stub = DnsStub(ip, lambda name, kind: (NOERROR, [ip] if kind == A and name == "m-0.m.ns.svc" else []))
        self.addCleanup(stub.close)
        with socket.create_server((ip, 0)) as server:
            flags = ["--nnodes=2", "--pod-name=m-1", "--master-addr=m-0.m",
                     f"--master-port={server.getsockname()[1]}"]

            def run(*arguments):
                return subprocess.run(["/usr/sbin/chroot", str(root), *arguments], capture_output=True,
                                      timeout=HANG_LIMIT, check=False, env={})

            self.assertEqual(run("/launch", "install", "/gpupool").returncode, 0)
            done = run("/gpupool/gpupool-launch", "run", *flags, "--", "/launch", "--version")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rb"\Agpupool-launch ")
        self.assertIn('"exitCode":0', (root / "gpupool/result.json").read_text())

    def test_env_as_nobody_on_a_read_only_root_without_proc(self):
        """No process of the container can be seen: as with shareProcessNamespace, hidepid or another user."""
        self.require_root()
        root = self.dir / "root"
        state = root / "gpupool"
        state.mkdir(parents=True)
        self.dir.chmod(0o755)
        state.chmod(0o777)  # an emptyDir
        shutil.copy(LAUNCHER, state / "gpupool-launch")
        (root / "log").touch()
        (root / "log").chmod(0o666)
        mounted = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && mount --bind "$0/gpupool" "$0/gpupool" && '
                   'mount -o remount,bind,ro "$0" && exec /usr/sbin/chroot --userspec=65534:65534 "$0" "$@"', str(root)]

        def run(*arguments):
            return subprocess.run([*mounted, "/gpupool/gpupool-launch", *arguments], capture_output=True,
                                  timeout=HANG_LIMIT, check=False, env={"PATH": os.environ["PATH"]})

        done = run("run", "--termination-log=/log", *GANG, "--master-timeout=0", "--", "/gpupool/gpupool-launch", "--version")
        self.assertEqual(0, done.returncode, done.stderr)
        done = run("env")
        self.assertEqual(0, done.returncode, done.stderr)
        self.assertIn(b"RANK=4\n", done.stdout)
        self.assertEqual(0, run("env", "/gpupool/gpupool-launch", "--version").returncode)
