# SPDX-License-Identifier: Apache-2.0
"""kubectl gpupool logs on real kubelets."""

import time

from tests.e2e.logs_case import LogsCase
from tests.kit.waiting import wait_for


class LogsTest(LogsCase):
    def test_a_worker_that_holds_its_result_shows_its_output(self):
        job = self.gang("early", 'echo "output of $RANK"; [ $RANK = 0 ] || sleep 3600')
        def printed() -> bool:
            workers = [status for pod in job.pods() for status in pod["status"].get("containerStatuses", [])]
            return len(workers) == 3 and all(w["restartCount"] or "running" in w["state"] for w in workers) and any(
                w["restartCount"] for w in workers)

        wait_for("rank 0 to hold and the others to run", printed, detail=job.show)
        shown = self.logs("early", "--all")
        self.assertEqual((0, "0 | output of 0\n1 | output of 1\n2 | output of 2\n"),
                         (shown.returncode, "".join(sorted(shown.stdout.splitlines(True)))), shown.stderr)
        self.assertEqual("output of 0\n", self.logs("early", "--rank", "0").stdout)
        self.assertIn("beyond the last rank, 2", self.logs("early", "--rank", "7").stderr)

    def test_a_success_keeps_its_last_lines(self):
        job = self.gang("kept", 'echo "loss of $RANK is 0.1"')
        job.wait_condition("Complete")
        wait_for("its pods to be gone", lambda: not job.pods(), detail=job.show)
        shown = self.logs("kept")
        self.assertEqual((0, "loss of 0 is 0.1\n"), (shown.returncode, shown.stdout))
        self.assertIn("the pods are gone", shown.stderr)

    def test_attempts_of_a_single_worker_and_its_exit_code(self):
        job = self.submit("single", "echo attempt $GPUPOOL_ATTEMPT; sleep 1; exit 7", backoffLimit=1)
        begin = time.monotonic()
        shown = self.logs("-f", "--exit", "single")
        job.wait_condition("Failed")
        self.assertEqual((7, "attempt 0\nattempt 1\n"), (shown.returncode, shown.stdout), shown.stderr)
        self.assertIn("attempt 0 ended: WorkerFailed", shown.stderr)
        self.assertLess(time.monotonic() - begin, 60)
        self.assertEqual("attempt 1\n", self.logs("single").stdout)
        self.assertEqual("attempt 0\nattempt 1\n", self.logs("single", "--all-attempts").stdout)
        self.assertEqual("attempt 0\n", self.logs("single", "--attempt", "0").stdout)

    def test_run_follows_its_job_to_the_exit_code(self):
        shown = self.run_command("run", "followed", "--pool", self.pool, "--image", "gpupool.dev/busybox:1",
                                 "--backoff-limit", "0", "--follow", "--", "sh", "-c", "echo begins; sleep 1; echo ends; exit 7")
        self.assertEqual((7, "gpujob.gpupool.dev/followed created\nbegins\nends\n"), (shown.returncode, shown.stdout),
                         shown.stderr)
