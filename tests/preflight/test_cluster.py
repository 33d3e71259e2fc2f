# SPDX-License-Identifier: Apache-2.0
"""Checks that ask the API server."""

import time
import unittest

from tests.preflight import build, servers
from tests.preflight.machine import Machine

NAMES = ["driver", "gpu-model", "container-runtime", "cgroups", "time", "api-server", "ports", "kernel", "kubelet"]
CLUSTER = "gpu-model,time,api-server"


class ClusterTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        build.require(build.PROGRAM, build.FAKE_NVML)

    def setUp(self):
        self.machine = self.enterContext(Machine())

    def ask(self, server, *arguments, **cluster):
        config = servers.kubeconfig(self.machine.root, server.url, **cluster)
        return self.machine.judge("--only", CLUSTER, "--kubeconfig", config, *arguments)

    def expect(self, check, verdict, found, remedy=""):
        self.assertEqual(verdict, check["verdict"], check)
        self.assertIn(found, check["found"])
        self.assertIn(remedy, check["remedy"])

    def test_pool_that_fits(self):
        pool = servers.pool("lab", gpus={"models": ["NVIDIA-A100-SXM4-40GB"], "minMemory": "40Gi"},
                            nodeSelector={"matchLabels": {"owner": "lab"}})
        with servers.api_server([pool]) as server:
            checks = self.ask(server, "--pool", "lab")
            self.assertEqual({"Bearer secret"}, {token for _, token in server.seen})
            self.assertEqual(1, sum(path == "/version" for path, _ in server.seen), "asked once for all checks")
        self.expect(checks["gpu-model"], "ok", "as pool lab wants, joins by: kubectl label node gpu-1 owner=lab")
        self.expect(checks["api-server"], "ok", "Kubernetes v1.30.2, GpuPools can be read")
        self.assertIn("agrees with the API server's" if checks["time"]["verdict"] == "ok" else "nothing synchronises",
                      checks["time"]["found"])

    def test_pool_that_does_not(self):
        pools = [servers.pool("lab", gpus={"models": ["NVIDIA-H200"]}), servers.pool("other", nodeNamePattern="^rack-")]
        with servers.api_server(pools) as server:
            self.expect(self.ask(server, "--pool", "lab")["gpu-model"], "fail", "NVIDIA-A100-SXM4-40GB is not in spec.gpus.models",
                        "kubectl get gpupools")
            self.expect(self.ask(server, "--pool", "other")["gpu-model"], "fail", "does not match spec.nodeNamePattern (^rack-)",
                        "hostnamectl")

    def test_pool_that_is_not_there(self):
        with servers.api_server() as server:
            server.answers[servers.POOLS + "/lab"] = servers.status(404, "NotFound")
            checks = self.ask(server, "--pool", "lab")
        self.expect(checks["gpu-model"], "fail", "the pool cannot be read: ", "kubectl get gpupools")
        self.expect(checks["api-server"], "ok", "GpuPools can be read")

    def test_rights(self):
        with servers.api_server() as server:
            server.answers[servers.POOLS] = servers.status(403, "Forbidden", servers.FORBIDDEN)
            server.answers[servers.POOLS + "/lab"] = servers.status(403, "Forbidden", servers.FORBIDDEN)
            self.expect(self.ask(server)["api-server"], "warn", "may not read GpuPools", 'resources: ["gpupools"]')
            self.expect(self.ask(server, "--pool", "lab")["gpu-model"], "fail", "the pool cannot be read", "--models")
            server.answers["/version"] = servers.status(401, "Unauthorized")
            self.expect(self.ask(server)["api-server"], "fail", "refuses the credentials", "kubeconfig")

    def test_cluster_without_gpupool(self):
        with servers.api_server() as server:
            del server.answers[servers.POOLS]
            self.expect(self.ask(server)["api-server"], "fail", "gpupool is not installed there", "docs/install.md")

    def test_clock(self):
        for ahead, verdict, found in ((20, "warn", "behind the API server"), (-20, "warn", "ahead of the API server"),
                                      (3600, "fail", "behind the API server"), (-3600, "fail", "ahead of the API server")):
            with self.subTest(ahead=ahead), servers.api_server(date=lambda: time.time() + ahead) as server:
                self.expect(self.ask(server)["time"], verdict, found, "chronyc makestep")

    def test_server_that_is_not_there(self):
        with servers.api_server() as server:
            pass
        checks = self.ask(server, "--pool", "lab")
        self.expect(checks["api-server"], "fail", server.url, f"curl -k {server.url}/version")
        self.expect(checks["gpu-model"], "fail", "the API server was not reached", "--models")
        self.assertIn("compared with no API server" if checks["time"]["verdict"] == "ok" else "nothing synchronises",
                      checks["time"]["found"])

    def test_certificate(self):
        with servers.api_server(certificate=servers.certificate(self.machine.root)) as server:
            self.expect(self.ask(server)["api-server"], "fail", "certificate", "curl -k")
            self.expect(self.ask(server, **{"certificate-authority": "cert.pem"})["api-server"], "ok", "v1.30.2")
            check = self.machine.judge("--only", "api-server", "--server", server.url)["api-server"]
            self.expect(check, "ok", "certificate and rights not checked")

    def test_without_credentials(self):
        with servers.api_server() as server:
            server.answers["/version"] = servers.status(401, "Unauthorized")
            check = self.machine.judge("--only", "api-server", "--server", server.url)["api-server"]
            self.assertEqual([("/version", None)], server.seen)
        self.expect(check, "ok", f"{server.url} answered in")

    def test_nowhere_to_go(self):
        self.expect(self.machine.judge()["api-server"], "warn", "not tried", "--kubeconfig FILE")
        check = self.machine.judge("--kubeconfig", "/no/such/file")["api-server"]
        self.expect(check, "fail", "/no/such/file", "--kubeconfig FILE")
        with servers.api_server() as server:
            environment = {"KUBECONFIG": servers.kubeconfig(self.machine.root, server.url)}
            self.expect(self.machine.judge(environment=environment)["api-server"], "ok", "v1.30.2")


class ProgramTest(unittest.TestCase):
    def setUp(self):
        build.require(build.PROGRAM)
        self.machine = self.enterContext(Machine())

    def test_good_machine_in_text(self):
        with servers.api_server() as server:
            config = servers.kubeconfig(self.machine.root, server.url)
            answer = self.machine.preflight("--kubeconfig", config, "--skip", "time")
        self.assertEqual(0, answer.code, answer.out)
        lines = answer.out.splitlines()
        self.assertEqual([name for name in NAMES if name != "time"], [line.split()[1] for line in lines])
        self.assertEqual({"ok"}, {line.split()[0] for line in lines}, answer.out)
        self.assertEqual("", answer.err)

    def test_bad_machine_in_text_and_json(self):
        self.machine.write("proc/sys/net/ipv4/ip_forward", "0\n")
        answer = self.machine.preflight("--skip", "time,api-server")
        self.assertEqual(1, answer.code)
        self.assertIn("FAIL  kernel             net.ipv4.ip_forward is 0\n"
                      "                         -> sysctl -w net.ipv4.ip_forward=1", answer.out)
        answer = self.machine.preflight("--json")
        self.assertEqual(1, answer.code)
        self.assertEqual(NAMES, list(answer.checks()))
        self.assertEqual({"name", "verdict", "found", "remedy"}, set(answer.checks()["kernel"]))

    def test_warnings_are_no_failure(self):
        self.machine.write("proc/swaps", "Filename\n/swap file 1 0 -2\n")
        answer = self.machine.preflight("--only", "kernel")
        self.assertEqual(0, answer.code)
        self.assertTrue(answer.out.startswith("warn  kernel"), answer.out)

    def test_wrong_flags(self):
        for arguments in (["--no-such"], ["--only", "weather"], ["--skip", "driver,weather"], ["--only", "driver", "--skip", "time"],
                          ["--min-memory", "much"], ["--root", "/no/such"], ["--pool", "a", "--models", "b"],
                          ["--pool", "a", "--server", "https://b"], ["--kubeconfig", "a", "--server", "https://b"], ["argument"]):
            with self.subTest(arguments=arguments):
                answer = self.machine.preflight(*arguments)
                self.assertEqual(2, answer.code, answer.out)
                self.assertEqual("", answer.out)
                self.assertNotEqual("", answer.err)

    def test_help_and_version(self):
        self.assertEqual(0, self.machine.preflight("--help").code)
        self.assertRegex(self.machine.preflight("--version").out, r"^gpupool-preflight \d+\.\d+\.\d+\n$")

    def test_library_below_the_root(self):
        """As in a container that has the machine mounted: the machine's own library, by its own links."""
        folder = "usr/lib/x86_64-linux-gnu"
        self.machine.write(folder + "/libnvidia-ml.so.550.54.15", "")
        with open(self.machine.path(folder + "/libnvidia-ml.so.550.54.15"), "wb") as out, open(build.FAKE_NVML, "rb") as library:
            out.write(library.read())
        self.machine.link("etc/alternatives/nvidia-ml", "/" + folder + "/libnvidia-ml.so.550.54.15")
        self.machine.link(folder + "/libnvidia-ml.so.1", "/etc/alternatives/nvidia-ml")
        self.machine.nvml = ""
        answer = self.machine.preflight("--only", "driver")
        self.assertIn("ok    driver             driver 550.54.15 (CUDA 12.4), 2 GPUs", answer.out)


if __name__ == "__main__":
    unittest.main()
