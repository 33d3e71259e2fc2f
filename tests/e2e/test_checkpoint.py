# SPDX-License-Identifier: Apache-2.0
"""Jobs with spec.checkpoint keep their work, whatever makes them leave their nodes."""

from tests.e2e.checkpoint_case import CheckpointCase
from tests.kit.manifests import shell
from tests.kit.pod_watch import PodWatch

# Counts in steps of a tenth of a second; the file `step` is its checkpoint. Rank 0 lets the others start.
COUNT = """
trap "" TERM
dir=$GPUPOOL_CHECKPOINT_DIR/$RANK; mkdir -p $dir
if [ "$RANK" = 0 ]; then while :; do nc -l -p "$MASTER_PORT" </dev/null >/dev/null 2>&1 || sleep 1; done & fi
step=$(cat $dir/step 2>/dev/null || echo 0)
echo "attempt $GPUPOOL_ATTEMPT resume $GPUPOOL_RESUME from $step" >> $dir/log
save() {
  echo $step > $dir/step.part; sync; mv $dir/step.part $dir/step
  echo "{\\"step\\":$step,\\"path\\":\\"step\\"}" > $GPUPOOL_REPORT_FILE.part; mv $GPUPOOL_REPORT_FILE.part $GPUPOOL_REPORT_FILE
}
while [ $step -lt LAST ]; do
  step=$((step + 1)); sleep 0.1
  if [ -e $GPUPOOL_NOTICE_FILE ]; then save; cp $GPUPOOL_NOTICE_FILE $dir/notice; exit 0; fi
done
save
"""


def interruptions(status):
    """The attempts that ended, without those that never began: a kubelet of 1.20 may not know the lease's label yet."""
    return [end for end in status.get("history", []) if end["cause"] != "PlacementRefused"]


class ExampleTest(CheckpointCase):
    """examples/checkpoint.yaml"""

    def wait_attempt(self, job, number):
        """It runs, after so many attempts less one, with all that came before it in the status."""
        return job.wait(f"attempt {number - 1}", lambda s: len(interruptions(s)) == number - 1 and s["phase"] == "Running" and s)

    def check_step(self, status, before):
        """What the status tells of the last checkpoint, and where the next attempt begins."""
        self.assertGreater(self.step_told(status), before, status)
        self.assertEqual(self.step_told(status), status["history"][-1]["fromStep"])
        return self.step_told(status)

    def test_three_interruptions_change_nothing(self):
        self.api.patch("gpupools", self.pool, {"spec": {"nodeLossTimeoutSeconds": 5}})
        self.addCleanup(self.api.patch, "gpupools", self.pool, {"spec": {"nodeLossTimeoutSeconds": 30}})
        self.make_claim()
        self.make_program()
        with PodWatch(self.lab.kubeconfig, self.namespace) as pods:
            status = self.start_example("undisturbed").wait_condition("Complete")
            self.assertEqual((1, 400), (status["attempts"], self.step_told(status)))
            self.assertNotIn("history", status)
            wanted = self.digest(pods)

        with PodWatch(self.lab.kubeconfig, self.namespace) as pods:
            job = self.start_example("interrupted")
            first = job.wait_phase("Running", limit=120) and job.nodes()
            self.wait_step_above(job, 0)
            self.drain(first[0])
            told = self.check_step(self.wait_attempt(job, 2), 0)
            second = job.nodes()
            self.assertNotIn(first[0], second)
            self.assertIn(first[1], second)
            self.wait_free(first[0])
            self.end_drains()

            self.wait_step_above(job, told)
            self.lab.cluster.verb("stop-node", first[1], "--hard")
            told = self.check_step(self.wait_attempt(job, 3), told)
            self.assertNotIn(first[1], job.nodes())

            self.wait_step_above(job, told)
            job.patch(suspend=True)
            told = self.check_step(job.wait_phase("Suspended"), told)
            self.lab.cluster.verb("start-node", first[1])
            job.patch(suspend=False)
            status = job.wait_condition("Complete")
            self.assertEqual(wanted, self.digest(pods))
        self.assertEqual((0, 400), (status.get("failures", 0), self.step_told(status)))
        self.assertEqual(len(status["history"]) + 1, status["attempts"])
        self.assertEqual([("Draining", first[0]), ("NodeLost", first[1]), ("Suspended", None)],
                         [(end["cause"], end.get("left")) for end in interruptions(status)])
        steps = [end["fromStep"] for end in status["history"]]
        self.assertEqual(sorted(steps), steps)
        self.assertIn("Checkpointed", self.events(job))


class EvictionTest(CheckpointCase):
    """kubectl drain."""

    def start(self, name, gpus, **checkpoint):
        self.make_claim()
        script = COUNT.replace("LAST", "160")
        job = self.submit(name, container=shell(script), gpus=gpus, backoffLimit=0,
                          checkpoint={"claimName": "checkpoints", "graceSeconds": 20, **checkpoint})
        job.wait_phase("Running", limit=120)
        return job

    def read(self, job, rank, name):
        with open(f"{self.folder_of(job)}/{rank}/{name}", encoding="ascii") as file:
            return file.read()

    def check(self, job, ranks):
        """Every rank was told once, saved, and went on from there."""
        status = job.wait_condition("Complete")
        self.assertEqual((2, 0, 160), (status["attempts"], status.get("failures", 0), self.step_told(status)))
        (end,) = status["history"]
        self.assertIn(end["cause"], ("WorkerLost", "Yielded"))
        starts = []
        for rank in range(ranks):
            begun = self.read(job, rank, "log").splitlines()
            self.assertEqual("attempt 0 resume 0 from 0", begun[0])
            self.assertRegex(begun[1], r"^attempt 1 resume 1 from \d+$")
            self.assertRegex(self.read(job, rank, "notice"), r'^\{"deadline":"[-0-9T:.]+Z"\}')
            starts.append(int(begun[1].split()[-1]))
        # A kubelet of 1.20 may forget how an evicted worker, the last rank, ended. Then nobody knows its step, only that of the others.
        self.assertIn(end.get("fromStep", min(starts)), (min(starts), min(starts[:-1], default=None)))
        self.assertGreater(min(starts), 0)

    def test_of_a_job_with_one_worker(self):
        job = self.start("alone", 1, notice="Signal")
        (left,) = job.nodes()
        self.kubectl_drain(left, job)
        self.check(job, 1)
        self.assertNotIn(left, job.status()["nodeNames"].split(","))
        self.wait_free(left)

    def test_of_a_gang(self):
        job = self.start("gang", 2, notice="File")
        left = job.nodes()[1]
        self.kubectl_drain(left, job)
        self.check(job, 2)
        self.assertNotIn(left, job.status()["nodeNames"].split(","))
        self.wait_free(left)
