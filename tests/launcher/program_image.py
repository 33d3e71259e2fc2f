"""What lets the program run in any image: size, no shared library, nothing else needed."""
import os
import shutil
import socket
import subprocess

from dns_stub import A, NOERROR, DnsStub
from launcher_case import HANG_LIMIT, LAUNCHER, LauncherCase


class Image(LauncherCase):
    def test_small_and_static(self):
        self.assertLess(os.path.getsize(LAUNCHER), 2_000_000)
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
