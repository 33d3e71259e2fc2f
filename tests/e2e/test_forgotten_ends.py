# SPDX-License-Identifier: Apache-2.0
"""Kubelets that do not know how a worker ended: its container was removed before they looked."""

import threading

from tests.kit.manifests import LISTEN, shell
from tests.kit.operator_case import OperatorCase

# Told by forget-end, the first attempt crashes and the second succeeds.
FAILS_ONCE = "until [ -e /dev/shm/end ]; do sleep 0.2; done; [ $GPUPOOL_ATTEMPT -gt 0 ] || exit 3"


class RemovedContainerTest(OperatorCase):
    def test_crash_and_success(self):
        """Of a single worker and of a rank of a gang. Kubelets start the rank again, and its launcher repeats the result.
        A kubelet of 1.20 does the same with the single worker. One of 1.36 does not, and says ContainerStatusUnknown: the
        attempt is lost, and not charged."""
        unknown = self.lab.api.minor() >= 24
        one = self.submit("one", FAILS_ONCE, backoffLimit=1)
        gang = self.submit("gang", container=shell(LISTEN + f'if [ "$RANK" = 1 ]; then {FAILS_ONCE}; fi'), gpus=2,
                           backoffLimit=1)
        threads = [threading.Thread(target=self.forget_ends, args=job) for job in ((one, 0), (gang, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(["gang 1", "gang 2", "one 1", "one 2"], sorted(self.forgotten))
        for job in [gang] if unknown else [one, gang]:
            status = job.wait_condition("Complete")
            self.assertEqual((2, 1), (status["attempts"], status["failures"]), job.show())
        if unknown:
            status = one.wait("a third attempt", lambda s: s if s.get("attempts") == 3 else None)
            self.assertEqual((["WorkerLost", "WorkerLost"], 0), ([end["cause"] for end in status["history"]], status["failures"]))

    def setUp(self):
        super().setUp()
        self.forgotten = []

    def forget_ends(self, job, rank):
        for attempt in (1, 2):
            job.wait(f"attempt {attempt} to run",
                     lambda s, n=attempt: s.get("attempts") == n and s.get("phase") == "Running")
            pod = next(p for p in job.pods() if self.is_worker(p, attempt, rank, job))
            self.lab.cluster.verb("forget-end", pod["spec"]["nodeName"], pod["metadata"]["name"])
            self.forgotten.append(f"{job.name} {attempt}")

    @staticmethod
    def is_worker(pod, attempt, rank, job):
        return pod["metadata"]["name"].startswith(f"{job.name}-{attempt}-") and (
            job.name == "one" or pod["metadata"]["name"].endswith(f"-{rank}"))
