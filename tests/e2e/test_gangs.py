# SPDX-License-Identifier: Apache-2.0
"""Gangs on three nodes: each rank's command runs exactly once in an attempt, whatever happens around it."""

import collections
import os

from tests.kit.kubectl import kubectl
from tests.kit.manifests import LISTEN, shell
from tests.kit.operator_case import OperatorCase
from tests.kit.waiting import wait_for

MARKS = "/var/gpupool-e2e"  # on each node


class GangTest(OperatorCase):
    def setUp(self):
        super().setUp()
        self.marks_name = f"{self.namespace}-{os.getpid()}"
        self.addCleanup(self.remove_marks)

    def mark_files(self):
        base = os.path.join(self.lab.cluster.folder(), "nodes")
        return [os.path.join(base, node, MARKS.strip("/"), self.marks_name) for node in os.listdir(base)]

    def remove_marks(self):
        for path in filter(os.path.exists, self.mark_files()):
            os.unlink(path)

    def runs(self):
        """(attempt, rank) -> how often its command has begun."""
        lines = []
        for path in filter(os.path.exists, self.mark_files()):
            with open(path, encoding="utf-8") as marks:
                lines += marks.read().split("\n")
        return dict(collections.Counter(tuple(map(int, line.split())) for line in lines if line))

    def gang(self, name, script, gpus=3, **spec):
        """Every rank first writes down that its command has begun; then rank 0 answers on the master's port."""
        begin = f'echo "$GPUPOOL_ATTEMPT $RANK" >> /marks/{self.marks_name}\n' + LISTEN
        container = shell(begin + script, volumeMounts=[{"name": "marks", "mountPath": "/marks"}])
        volume = {"name": "marks", "hostPath": {"path": MARKS, "type": "DirectoryOrCreate"}}
        return self.submit(name, container=container, pod={"volumes": [volume]}, gpus=gpus, **spec)

    def wait_all_begun(self, attempt, ranks=3):
        wanted = {(attempt, rank) for rank in range(ranks)}
        wait_for(f"all ranks of attempt {attempt} to begin", lambda: wanted <= set(self.runs()),
                 detail=lambda: str(self.runs()))

    def once_each(self, attempts, ranks=3):
        return {(attempt, rank): 1 for attempt in range(attempts) for rank in range(ranks)}

    def test_ranks_that_end_early_are_not_run_again(self):
        job = self.gang("early", "sleep $((RANK * 3))")
        status = job.wait_condition("Complete")
        self.assertEqual((1, 3), (status["attempts"], status["workers"]["succeeded"]))
        self.assertEqual(self.once_each(1), self.runs())

    def test_operator_killed_while_a_gang_runs(self):
        job = self.gang("killed", "sleep 8")
        self.wait_all_begun(0)
        self.operator.kill()
        self.operator.start()
        status = job.wait_condition("Complete")
        self.assertEqual(("Succeeded", 1), (status["phase"], status["attempts"]))
        self.assertEqual(self.once_each(1), self.runs())

    def test_operator_killed_at_any_step(self):
        """Killed again and again from the creation to the end."""
        job = self.gang("often", "sleep 3; [ $GPUPOOL_ATTEMPT -gt 0 ] || exit 1")
        for _ in range(60):
            self.operator.kill()
            self.operator.start()
            if job.phase() in ("Succeeded", "Failed"):
                break
        status = job.wait_condition("Complete")
        self.assertEqual(("Succeeded", 2), (status["phase"], status["attempts"]))
        self.assertEqual(self.once_each(2), self.runs())

    def test_operator_is_away_at_the_end(self):
        job = self.gang("away", "sleep 3")
        self.wait_all_begun(0)
        self.operator.kill()
        # All holders are restarted containers once every rank has ended.
        wait_for("all workers to have ended", lambda: all(
            any(c["restartCount"] for c in p["status"].get("containerStatuses", [])) for p in job.pods()))
        self.operator.start()
        status = job.wait_condition("Complete")
        self.assertEqual((1, self.once_each(1)), (status["attempts"], self.runs()))

    def test_deleted_pod_restarts_all_and_is_not_charged(self):
        job = self.gang("lost", "[ $GPUPOOL_ATTEMPT -gt 0 ] || sleep 3600", backoffLimit=0)
        self.wait_all_begun(0)
        job.wait_phase("Running")
        victim = next(p for p in job.pods() if p["metadata"]["name"].endswith("-1"))
        shown = kubectl(self.lab.kubeconfig, "-n", self.namespace, "exec", victim["metadata"]["name"], "--",
                        "/gpupool/gpupool-launch", "env", "sh", "-c", "echo $RANK of $WORLD_SIZE, $MASTER_ADDR")
        self.assertEqual("1 of 3, lost-1-0.lost-1\n", shown)
        self.api.delete("pods", victim["metadata"]["name"], self.namespace)
        status = job.wait_condition("Complete")
        self.assertEqual((2, 0), (status["attempts"], status.get("failures", 0)))
        self.assertEqual(self.once_each(2), self.runs())

    def test_one_crash_restarts_all_and_is_charged(self):
        job = self.gang("crash", 'if [ $GPUPOOL_ATTEMPT = 0 ]; then [ $RANK != 2 ] || exit 7; sleep 3600; fi')
        status = job.wait_condition("Complete")
        self.assertEqual((2, 1), (status["attempts"], status["failures"]))
        self.assertEqual(self.once_each(2), self.runs())

    def test_failure_names_rank_code_and_last_lines(self):
        job = self.gang("fails", 'if [ $RANK = 1 ]; then echo first; echo "out of cheese"; exit 42; fi; sleep 3600',
                        backoffLimit=0)
        status = job.wait_condition("Failed")
        self.assertEqual("BackoffLimitExceeded", status["reason"])
        for text in ("rank 1 exited with code 42", "out of cheese"):
            self.assertIn(text, status["message"])

    def test_failure_names_the_signal(self):
        # Kubernetes makes $$ of $$$$ in a command.
        job = self.gang("signal", "[ $RANK = 0 ] || { sleep 1; kill -SEGV $$$$; }; sleep 3600", gpus=2, backoffLimit=0)
        self.assertIn("rank 1 killed by signal 11", job.wait_condition("Failed")["message"])

    def test_ranks_wait_for_a_master_that_listens_late(self):
        script = ('if [ $RANK = 0 ]; then sleep 5; date +%s > /marks/NAME.0; timeout 60 nc -l -p $MASTER_PORT '
                  '</dev/null; else date +%s > /marks/NAME.1; fi').replace("NAME", self.marks_name)
        container = shell(script, volumeMounts=[{"name": "marks", "mountPath": "/marks"}])
        volume = {"name": "marks", "hostPath": {"path": MARKS, "type": "DirectoryOrCreate"}}
        job = self.submit("late", container=container, pod={"volumes": [volume]}, gpus=2)
        job.wait_condition("Complete")
        times = {}
        for path in self.mark_files():
            for rank in (0, 1):
                if os.path.exists(f"{path}.{rank}"):
                    with open(f"{path}.{rank}", encoding="utf-8") as mark:
                        times[rank] = int(mark.read())
                    os.unlink(f"{path}.{rank}")
        self.assertEqual({0, 1}, set(times))
        self.assertGreaterEqual(times[1], times[0], "rank 1 began before the master listened")
