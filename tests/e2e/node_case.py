# SPDX-License-Identifier: Apache-2.0
"""Jobs whose nodes are stopped, cordoned and drained; all nodes are back at the end of a test."""

from tests.kit.kubectl import kubectl
from tests.kit.leaks import node_traces
from tests.kit.manifests import LISTEN, shell
from tests.kit.operator_case import OperatorCase
from tests.kit.waiting import wait_for

FIRST_FOR_EVER = LISTEN + "[ $GPUPOOL_ATTEMPT -gt 0 ] || sleep 3600"
NODES = ("na", "nb", "nc")


class NodeCase(OperatorCase):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.mend)

    def mend(self):
        for node in NODES:
            kubectl(self.lab.kubeconfig, "uncordon", node)
            self.lab.cluster.verb("start-node", node)  # does nothing where all runs

    def gang(self, name, script=FIRST_FOR_EVER, gpus=2, **spec):
        job = self.submit(name, container=shell(script), gpus=gpus, backoffLimit=0, **spec)
        job.wait_phase("Running")
        return job

    def complete(self, job, attempts):
        """The job succeeds after so many attempts, without those that a kubelet refused, and none is charged."""
        status = job.wait_condition("Complete")
        refused = sum(each["cause"] == "PlacementRefused" for each in status.get("history", []))
        self.assertEqual((attempts, 0), (status["attempts"] - refused, status.get("failures", 0)), job.show())

    def wait_free(self, *names):
        for name in names:
            wait_for(f"node {name} to be free", lambda n=name: not node_traces(self.api.get("nodes", n)),
                     detail=lambda n=name: str(node_traces(self.api.get("nodes", n))))

    def kubectl_drain(self, node, job):
        local = "--delete-emptydir-data" if self.api.minor() >= 20 else "--delete-local-data"
        kubectl(self.lab.kubeconfig, "drain", node, "--ignore-daemonsets", "--force", local,
                f"--pod-selector=gpupool.dev/job-name={job.name}", "--timeout=90s")

    def events(self, job):
        return [event["reason"] for event in job.events()]
