# SPDX-License-Identifier: Apache-2.0
"""The device plugin on a real kubelet, with plain pods: what happens to slices when anything around them breaks."""

import os
import re
import signal
import time

from tests.e2e.slice_node import PLUGIN, SHOW, SLICE, SYSTEM_NAMESPACE, Shown, SliceNode
from tests.kit.kubectl import kubectl
from tests.kit.manifests import shell
from tests.kit.operator_case import OperatorCase
from tests.kit.waiting import holds_for, wait_for

NODE = "nd"
TOTAL = 30


class PluginCase(OperatorCase):
    """Pods with slices on one node; each keeps them until it is deleted."""

    def setUp(self):
        super().setUp()
        self.node = SliceNode(self.lab, NODE)
        self.node.wait_allocatable(TOTAL)
        self.node.wait_report("all slices are free", lambda report: report["sliceCounts"]["free"] == TOTAL)

    def clean(self):
        """Without grace: else kubelet 1.20 keeps the objects for 8 or 18 s. The next test waits for the slices."""
        for pod in self.api.list("pods", self.namespace):
            self.api.delete("pods", pod["metadata"]["name"], self.namespace, gracePeriodSeconds=0)
        super().clean()

    def start(self, name, slices):
        container = shell(SHOW + "exec sleep 3600", resources={"limits": {SLICE: str(slices)}})
        self.api.create("pods", {
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"terminationGracePeriodSeconds": 1, "nodeSelector": {"kubernetes.io/hostname": NODE},
                     "tolerations": [{"key": "gpupool.dev/pool", "operator": "Exists"}], "containers": [container]}})

    def shown(self, name):
        """What the pod's container was given, once it runs."""
        def printed():
            pod = self.api.get("pods", name, self.namespace)
            if pod["status"].get("phase") in ("Failed", "Succeeded"):
                raise AssertionError(f"pod {name}: {pod['status']}")
            if pod["status"].get("phase") != "Running":
                return None
            text = self.api.log(name, "worker", self.namespace)
            return text if "shown\n" in text else None
        return Shown(wait_for(f"pod {name} to show its slices", printed, detail=lambda: str(
            self.api.get("pods", name, self.namespace)["status"])))

    def start_once_admitted(self, name, slices):
        """A kubelet whose plugin has only begun to tell its slices refuses pods that are sent for them already."""
        def admitted():
            pod = self.api.find("pods", name, self.namespace)
            if pod is None:
                self.start(name, slices)
            elif re.search("Available: 0|no healthy devices", pod["status"].get("message", "")):
                self.api.delete("pods", name, self.namespace, gracePeriodSeconds=0)
            else:
                return pod["status"].get("phase") == "Running"
            return False
        wait_for(f"pod {name} to be admitted and run", admitted, detail=lambda: str(
            (self.api.find("pods", name, self.namespace) or {}).get("status")))
        return self.shown(name)

    def start_all(self, **slices):
        for name, count in slices.items():
            self.start(name, count)
        return {name: self.shown(name) for name in slices}

    def containers(self):
        """What must not change while a container is not hurt."""
        return {p["metadata"]["name"]: (c["containerID"], c["restartCount"], "running" in c["state"])
                for p in self.api.list("pods", self.namespace) for c in p["status"].get("containerStatuses", [])}

    def assert_no_slice_twice(self, *pods):
        """Each pod has what its container was told, and nothing of that is anyone else's."""
        held = self.node.kubelet_ids()
        all_ids = []
        for name in pods:
            uid = self.api.get("pods", name, self.namespace)["metadata"]["uid"]
            self.assertEqual(self.shown(name).ids, held[uid], name)
            all_ids += held[uid]
        self.assertEqual(len(all_ids), len(set(all_ids)), all_ids)

    def tell(self, what, begin):
        print(f"\n    {what}: {time.monotonic() - begin:.2f} s", flush=True)

    def wait_registered(self, before):
        """Until the plugin has made a socket that is none of those."""
        wait_for("the plugin to make its socket anew", lambda: self.node.our_sockets().keys() - before.keys())


class SlicesOfPodsTest(PluginCase):
    def test_each_container_sees_exactly_what_the_kubelet_gave_it(self):
        shown = self.start_all(one=1, three=3, ten=10)
        report = {gpu["uuid"]: gpu for gpu in self.node.report()["gpus"]}
        for name, count in (("one", 1), ("three", 3), ("ten", 10)):
            with self.subTest(name):
                (device,) = shown[name].devices
                uuid, memory, cores, ids = device
                each = report[uuid]["slices"]
                self.assertEqual([uuid], shown[name].visible)
                self.assertEqual((count, count * each["memoryMiB"], count * each["cores"]), (len(ids), memory, cores))
                self.assertEqual({"CUDA_DEVICE_MEMORY_LIMIT_0": f"{memory}m", "CUDA_DEVICE_SM_LIMIT": str(cores),
                                  "CUDA_DEVICE_SM_LIMIT_0": str(cores)}, shown[name].limits)
                self.node.wait_report("podresources names the same GPU", lambda _, uuid=uuid, name=name, count=count:
                                      self.node.pods_by_gpu()[uuid].get((self.namespace, name)) == count)
        self.assert_no_slice_twice("one", "three", "ten")

    def test_slices_of_one_container_are_of_one_gpu(self):
        """Though the first GPU has two slices left, and the scheduler only counts."""
        shown = self.start_all(eight=8, three=3)
        self.assertNotEqual(shown["eight"].visible, shown["three"].visible)
        self.assertEqual(1, len(shown["three"].visible))

    def test_slices_come_back(self):
        first = self.start_all(a=10, b=10, c=10)
        self.start("d", 1)
        holds_for("no room for a 31st slice", lambda: not self.api.get("pods", "d", self.namespace)["spec"].get(
            "nodeName"), 1)
        self.api.delete("pods", "b", self.namespace, gracePeriodSeconds=1)
        self.assertEqual(first["b"].visible, self.shown("d").visible)


class BrokenTest(PluginCase):
    """Each time: no running container is hurt, no slice is handed out twice, and new pods find slices again."""

    def check(self, break_it, registers=True):
        self.start_all(before=3, other=1)
        containers, sockets, begin = self.containers(), self.node.our_sockets(), time.monotonic()
        break_it()
        if registers:
            self.wait_registered(sockets)
            self.tell("registered again after", begin)
        self.node.wait_allocatable(TOTAL)
        self.start_once_admitted("after", 5)
        self.assert_no_slice_twice("before", "other", "after")
        self.assertEqual(containers, {name: self.containers()[name] for name in containers})
        self.node.wait_report("all pods", lambda report: report["sliceCounts"]["free"] == TOTAL - 9)

    def test_kubelet_is_restarted(self):
        def restart():
            self.lab.cluster.verb("stop-node", NODE)
            self.lab.cluster.verb("start-node", NODE)
        self.check(restart)

    def test_plugin_is_killed(self):
        def kill():
            (pid,) = self.node.plugin_pids()
            os.kill(pid, signal.SIGKILL)
        self.check(kill)

    def test_plugin_is_killed_while_the_node_has_no_network(self):
        """The kubelet and the plugin get along without an API server."""
        def kill():
            sockets = self.node.our_sockets()
            self.lab.cluster.verb("cut-node", NODE)
            self.addCleanup(self.lab.cluster.verb, "join-node", NODE)
            (pid,) = self.node.plugin_pids()
            os.kill(pid, signal.SIGKILL)
            self.wait_registered(sockets)
            self.lab.cluster.verb("join-node", NODE)
        self.check(kill)

    def test_sockets_are_wiped(self):
        def wipe():
            for path in self.node.our_sockets().values():
                os.unlink(path)
        self.check(wipe)

    def test_plugin_is_upgraded(self):
        def upgrade():
            old = self.node.plugin_pod()["metadata"]["name"]
            kubectl(self.lab.kubeconfig, "-n", SYSTEM_NAMESPACE, "rollout", "restart", "daemonset/" + PLUGIN)
            kubectl(self.lab.kubeconfig, "-n", SYSTEM_NAMESPACE, "rollout", "status", "daemonset/" + PLUGIN,
                    "--timeout=110s")
            self.assertNotEqual(old, self.node.plugin_pod()["metadata"]["name"])
        self.check(upgrade)

    def test_a_second_plugin_for_the_same_resource_changes_nothing(self):
        pod = self.node.plugin_pod()
        second = {"metadata": {"name": "second", "namespace": SYSTEM_NAMESPACE}, "spec": pod["spec"]}
        self.addCleanup(self.api.delete, "pods", "second", SYSTEM_NAMESPACE)

        def start_second():
            self.api.create("pods", second)
            wait_for("the second plugin to run", lambda: self.api.get("pods", "second", SYSTEM_NAMESPACE)["status"].get(
                "phase") == "Running")
        self.check(start_second, registers=False)
        self.assertEqual(2, len(self.node.plugin_pids()))


class HealthTest(PluginCase):
    def gpu(self, uuid):
        return next(gpu for gpu in self.node.report()["gpus"] if gpu["uuid"] == uuid)

    def test_a_gpu_that_falls_off_the_bus_and_comes_back(self):
        (used,) = self.start_all(runs=1)["runs"].visible
        unhealthy, index = next((gpu["uuid"], gpu["index"]) for gpu in self.node.report()["gpus"] if gpu["uuid"] != used)
        containers = self.containers()
        begin = time.monotonic()
        self.node.throw_xid(index, 79)
        self.node.wait_report(f"GPU {index} is unhealthy", lambda _: self.gpu(unhealthy)["health"] == "Unhealthy")
        self.tell("reported unhealthy after", begin)
        self.node.wait_allocatable(TOTAL - 10)
        self.tell("allocatable follows after", begin)
        report = self.node.wait_report(
            "the pod is known", lambda report: report["sliceCounts"]["free"] == 19 and report)
        self.assertEqual((3, 2), (report["gpuCounts"]["total"], report["gpuCounts"]["healthy"]))
        self.assertEqual(30, report["sliceCounts"]["total"])
        self.assertIn("79", self.gpu(unhealthy)["reason"])
        shown = self.start_all(a=10, b=9)
        self.assertNotIn(unhealthy, shown["a"].visible + shown["b"].visible)
        self.assertEqual(containers, {name: self.containers()[name] for name in containers})
        begin = time.monotonic()
        self.node.reload_driver()
        self.node.wait_allocatable(TOTAL)
        self.tell("healthy again after the driver's reload within", begin)
        self.assertEqual([unhealthy], self.start_all(c=10)["c"].visible)

    def test_an_unhealthy_gpu_is_known_after_a_restart(self):
        self.addCleanup(self.node.wait_allocatable, TOTAL)
        self.addCleanup(self.node.reload_driver)
        self.node.throw_xid(2, 79)
        self.node.wait_allocatable(TOTAL - 10)
        since, sockets = time.time(), self.node.our_sockets()
        (pid,) = self.node.plugin_pids()
        os.kill(pid, signal.SIGKILL)
        self.wait_registered(sockets)
        self.node.wait_report("written by the new plugin", lambda report: report["lastReport"] >= time.strftime(
            "%Y-%m-%dT%H:%M:%SZ", time.gmtime(since)) and report["sliceCounts"]["free"] == TOTAL - 10)
        self.node.wait_allocatable(TOTAL - 10)
        self.assertEqual(["Unhealthy"], [gpu["health"] for gpu in self.node.report()["gpus"] if gpu["index"] == 2])


class NodeReportTest(PluginCase):
    def test_it_is_owned_by_the_node_and_shown(self):
        found = self.api.get("gpunodes", NODE)
        (owner,) = found["metadata"]["ownerReferences"]
        self.assertEqual(("Node", self.api.get("nodes", NODE)["metadata"]["uid"]), (owner["kind"], owner["uid"]))
        header, line = kubectl(self.lab.kubeconfig, "get", "gnode", NODE).splitlines()
        self.assertEqual(["NAME", "GPUS", "HEALTHY", "SLICES", "SLICES-FREE", "UTILIZATION", "MEMORY", "DRIVER",
                          "LAST-REPORT"], header.split())
        self.assertEqual([NODE, "3", "3", "30", "30", "0%"], line.split()[:6])
        self.assertRegex(line.split()[6], r"^0/\d+(\.\d)?Gi$")

    def test_it_is_made_again(self):
        self.api.delete("gpunodes", NODE)
        self.start_all(news=1)
        wait_for("the object", lambda: self.api.find("gpunodes", NODE))
        self.node.wait_report("the pod", lambda report: report["sliceCounts"]["free"] == TOTAL - 1)

    def test_the_plugin_has_no_more_rights_than_it_needs(self):
        (container,) = self.node.plugin_pod()["spec"]["containers"]
        context = container["securityContext"]
        self.assertFalse(context.get("privileged", False))
        self.assertTrue(context["readOnlyRootFilesystem"])
        self.assertEqual(["ALL"], context["capabilities"]["drop"])
        limits = any(argument.startswith("--limiter-directory") for argument in container["args"])
        self.assertEqual(limits, self.node.plugin_pod()["spec"].get("hostPID", False))
        (pid,) = self.node.plugin_pids()
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            capabilities = dict(line.split(":\t") for line in status.read().splitlines() if line.startswith("Cap"))
        self.assertEqual({"0" * 16}, set(capabilities.values()), capabilities)
