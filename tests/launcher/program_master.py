# SPDX-License-Identifier: Apache-2.0
"""Ranks above 0 wait for rank 0's port."""
import os
import signal
import socket

from tests.launcher.dns_stub import A, AAAA, NOERROR, NXDOMAIN, REFUSED, SERVFAIL, DnsStub
from tests.launcher.launcher_case import HANG_LIMIT, LauncherCase


class MasterCase(LauncherCase):
    def gang(self, port, *more, addr="127.0.0.1"):
        """Flags of rank 1 of 2; later ones win."""
        return ["--nnodes=2", "--pod-name=job-0-1", f"--master-addr={addr}", f"--master-port={port}", *more]

    def bound_socket(self, family=socket.AF_INET, host="127.0.0.1"):
        """Holds a port on which nobody listens yet."""
        server = socket.socket(family)
        self.addCleanup(server.close)
        server.bind((host, 0))
        return server, server.getsockname()[1]


class Numeric(MasterCase):
    def test_master_that_is_there(self):
        for addr in ("127.0.0.1", "localhost"):
            self.setUp()
            server, port = self.bound_socket()
            server.listen()
            server.settimeout(HANG_LIMIT)
            done = self.run_launcher("sh", "-c", "exit 5", flags=self.gang(port, addr=addr))
            self.assertEqual(done.returncode, 5)
            self.assertEqual(done.stderr, b"")
            connection = server.accept()[0]
            self.assertEqual(connection.recv(10), b"")  # an orderly end: no reset, no byte
            connection.close()
            self.assert_result(rank=1)

    def test_ipv6(self):
        server, port = self.bound_socket(socket.AF_INET6, "::1")
        server.listen()
        self.assertEqual(self.run_launcher("true", flags=self.gang(port, addr="::1")).returncode, 0)

    def test_master_that_never_comes(self):
        _, port = self.bound_socket()
        ran = self.dir / "ran"
        done = self.run_launcher("touch", str(ran), flags=self.gang(port, "--master-timeout=1"))
        self.assertEqual(done.returncode, 124)
        result = self.assert_result(outcome="notStarted", exitCode=124, reason="MasterTimeout", rank=1)
        self.assertIn(f"port {port}: Connection refused", result["message"])
        self.assertFalse(ran.exists())
        self.assertFalse((self.state / "mark").exists())
        # And a restart repeats it, even if the master is there by now.
        self.assertEqual(self.run_launcher("touch", str(ran), flags=self.gang(port)).returncode, 124)
        self.assertFalse(ran.exists())

    def test_timeout_zero_does_not_wait(self):
        _, port = self.bound_socket()
        done = self.run_launcher("sh", "-c", "exit 5", flags=self.gang(port, "--master-timeout=0"))
        self.assertEqual(done.returncode, 5)

    def test_rank_0_does_not_wait(self):
        _, port = self.bound_socket()
        done = self.run_launcher("sh", "-c", "exit 5", flags=self.gang(port, "--rank=0"))
        self.assertEqual(done.returncode, 5)


class StandIn(MasterCase):
    """Rank 0 ended well and never listened: what holds its pod does."""

    def rank_0(self, port, code, *more):
        flags = self.gang(port, "--rank=0", "--hold", "--hold-seconds=600", *more)
        self.assertEqual(self.run_launcher("sh", "-c", f"exit {code}", flags=flags).returncode, code)
        holding = self.start("sh", "-c", f"exit {code}", flags=flags)  # as the kubelet starts it again
        self.assertIn(b"not run again", holding.stderr.readline())
        return holding

    def free_port(self):
        server, port = self.bound_socket()
        server.close()
        return port

    def test_others_need_not_wait_for_it_any_more(self):
        port = self.free_port()
        holding = self.rank_0(port, 0)
        self.state = self.dir / "rank-1"
        self.state.mkdir()
        done = self.run_launcher("sh", "-c", "exit 5", flags=self.gang(port))
        self.assertEqual(done.returncode, 5)
        self.assertIsNone(holding.poll())
        holding.terminate()
        self.assertEqual(holding.wait(HANG_LIMIT), 0)

    def test_a_failed_rank_0_keeps_its_port_shut(self):
        port = self.free_port()
        holding = self.rank_0(port, 3)
        self.state = self.dir / "rank-1"
        self.state.mkdir()
        done = self.run_launcher("true", flags=self.gang(port, "--master-timeout=1"))
        self.assertEqual(done.returncode, 124)
        holding.terminate()
        holding.wait(HANG_LIMIT)

    def test_rank_0_of_a_gang_that_does_not_wait_keeps_its_port_shut(self):
        port = self.free_port()
        holding = self.rank_0(port, 0, "--master-timeout=0")
        self.state = self.dir / "rank-1"
        self.state.mkdir()
        self.assertEqual(self.run_launcher("true", flags=self.gang(port, "--master-timeout=1")).returncode, 124)
        holding.terminate()
        self.assertEqual(holding.wait(HANG_LIMIT), 0)

    def test_a_port_that_is_taken_is_left_alone(self):
        server, port = self.bound_socket()
        server.listen()
        holding = self.rank_0(port, 0)
        self.assertIn(b"cannot listen", holding.stderr.readline())
        holding.terminate()
        self.assertEqual(holding.wait(HANG_LIMIT), 0)


class ByName(MasterCase):
    NAME = "job-0-0.job-0"
    FULL = NAME + ".ns.svc.cluster.local"

    def setUp(self):
        super().setUp()
        self.require_root()  # port 53, and a resolv.conf of our own
        pid = os.getpid()
        self.ip = f"127.{64 + pid // 65536 % 64}.{pid // 256 % 256}.{pid % 256}"
        conf = self.dir / "resolv.conf"
        conf.write_text(f"nameserver {self.ip}\nsearch ns.svc.cluster.local svc.cluster.local\noptions ndots:5\n")
        self.wrapper = ["unshare", "-m", "sh", "-c", f'mount --bind {conf} /etc/resolv.conf && exec "$@"', "sh"]

    def serve(self, answer):
        stub = DnsStub(self.ip, answer)
        self.addCleanup(stub.close)
        return stub

    def start_waiting(self, *command, port, flags=(), **options):
        return self.start(*command, flags=self.gang(port, *flags, addr=self.NAME), wrapper=self.wrapper, **options)

    def test_every_failure_of_dns_is_tried_again(self):
        server, port = self.bound_socket(host=self.ip)
        server.listen()
        failures = [REFUSED, SERVFAIL, NXDOMAIN, None, NOERROR, REFUSED]
        met = []

        def answer(name, kind):
            if kind == A and name == self.FULL:
                if not failures:
                    return NOERROR, [self.ip]
                met.append(failures.pop(0))
                return None if met[-1] is None else (met[-1], [])
            return NXDOMAIN, []

        self.serve(answer)
        process = self.start_waiting("sh", "-c", "exit 5", port=port)
        self.assertEqual(process.wait(HANG_LIMIT), 5, process.stderr.read())
        self.assertEqual(met, [REFUSED, SERVFAIL, NXDOMAIN, None, NOERROR, REFUSED])

    def test_master_that_comes_late(self):
        server, port = self.bound_socket(host=self.ip)
        stub = self.serve(lambda name, kind: (NOERROR, [self.ip] if kind == A else []))
        process = self.start_waiting("sh", "-c", "exit 5", port=port)
        # The second look-up comes after seconds of refused connections.
        self.assertTrue(stub.wait_asked(2))
        self.assertIsNone(process.poll())
        server.listen()
        self.assertEqual(process.wait(HANG_LIMIT), 5)

    def test_name_with_ipv6_only(self):
        server, port = self.bound_socket(socket.AF_INET6, "::1")
        server.listen()
        self.serve(lambda name, kind: (NOERROR, ["::1"] if kind == AAAA else []))
        self.assertEqual(self.start_waiting("sh", "-c", "exit 5", port=port).wait(HANG_LIMIT), 5)

    def test_variables_of_the_resolver_change_nothing(self):
        server, port = self.bound_socket(host=self.ip)
        server.listen()
        stub = self.serve(lambda name, kind: (NOERROR, [self.ip] if kind == A and name == self.FULL else []))
        process = self.start_waiting("sh", "-c", "exit 5", port=port, flags=["--master-timeout=10"],
                                     env={"LOCALDOMAIN": "elsewhere", "RES_OPTIONS": "ndots:0"})
        self.assertEqual(process.wait(HANG_LIMIT), 5)
        self.assertEqual(stub.asked[0][0], self.FULL)

    def test_name_that_never_resolves(self):
        self.serve(lambda name, kind: (NXDOMAIN, []))
        process = self.start_waiting("true", port=1, flags=["--master-timeout=1"])
        self.assertEqual(process.wait(HANG_LIMIT), 124)
        self.assertIn(f"{self.NAME}: no such name", self.result()["message"])

    def test_stop_signal_while_a_name_server_is_silent(self):
        stub = self.serve(lambda name, kind: None)
        process = self.start_waiting("touch", str(self.dir / "ran"), port=1)
        self.assertTrue(stub.wait_asked(1))
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(HANG_LIMIT), 143)
        self.assert_result(outcome="notStarted", exitCode=143, reason="Stopped")
        self.assertFalse((self.dir / "ran").exists())
