# SPDX-License-Identifier: Apache-2.0
"""kubectl gpupool as a renter and as an owner, through a real kubectl."""

import json
import os
import re

from tests.integration.operator.cli_case import CliCase
from tests.kit.jobs import JobHandle
from tests.kit.waiting import wait_for


class CliTest(CliCase):
    def job(self, name):
        return JobHandle(self.api, name, self.namespace)

    def run_job(self, name, *flags, command=("sleep", "3600")):
        self.tell("run", name, "--pool", self.pool, "--image", "gpupool.dev/busybox:1", *flags, "--", *command)
        return self.job(name)

    def wait_for_end(self, name, *flags):
        """A process that waits, once it has said where the job is."""
        process = self.start("wait", name, *flags)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertIn(name + " ", process.stderr.readline())
        return process

    def test_from_run_to_success(self):
        job = self.run_job("hello")
        job.wait_phase("Running")
        process = self.wait_for_end("hello")
        listed = json.loads(self.tell("list", "-o", "json"))
        self.assertEqual("cli.gpupool.dev/v1", listed["apiVersion"])
        (item,) = listed["items"]
        self.assertEqual(("hello", "Running", self.pool, self.namespace),
                         (item["name"], item["phase"], item["pool"], item["namespace"]))
        self.assertRegex(self.tell("list"), r"(?m)^hello +Running +" + self.pool + " +1 +" + job.nodes()[0])
        story = self.tell("describe", "hello")
        self.assertRegex(story, r"(?m)^Phase: +Running \(WorkersRunning\)$")
        self.assertRegex(story, r"(?m)^  0 +hello-1-\w+ +" + job.nodes()[0] + " +Running ")
        self.finish(job)
        self.assertEqual(0, process.wait(60))
        self.assertIn("hello Succeeded (Completed)", process.stderr.read())
        wait_for("an event in the story", lambda: re.search(r"(?m)^  \w+ +Normal +", self.tell("describe", "hello")))

    def test_wait_ends_with_the_exit_code_of_a_failure(self):
        job = self.run_job("fails", "--backoff-limit", "0")
        job.wait_phase("Running")
        process = self.wait_for_end("fails")
        self.finish(job, code=42)
        self.assertEqual(42, process.wait(60))
        code, out, _ = self.ask("retry", "fails")
        self.assertEqual((0, "gpujob.gpupool.dev/fails-r2 created\n"), (code, out))
        self.assertEqual("fails", self.job("fails-r2").read()["metadata"]["annotations"]["gpupool.dev/retry-of"])
        self.job("fails-r2").wait_phase("Running")

    def test_wait_and_its_limit_and_the_end_of_the_job(self):
        self.run_job("long").wait_phase("Running")
        code, _, err = self.ask("wait", "long", "--timeout", "1s")
        self.assertEqual(124, code, err)
        process = self.wait_for_end("long")
        self.assertEqual("gpujob.gpupool.dev/long cancelled\n", self.tell("cancel", "long"))
        self.assertEqual(1, process.wait(60))
        self.assertIn("was deleted", process.stderr.read())

    def test_why_asks_the_operator(self):
        self.tell("run", "large", "--pool", self.pool, "--gpus", "64", "--image", "gpupool.dev/busybox:1", "--", "true")
        self.assertRegex(self.tell("why", "large"), r"(?s)^large waits .*TooLarge: .*\nwants: 64 workers")
        answer = json.loads(self.tell("why", "large", "-o", "json"))
        self.assertEqual(("cli.gpupool.dev/v1", "Explanation", "large"), (answer["apiVersion"], answer["kind"], answer["name"]))
        self.assertEqual(self.pool, answer["pool"]["name"])
        self.assertIn("not found", self.ask("why", "nothing")[2])

    def test_a_script_belongs_to_the_job(self):
        script = os.path.join(self.folder, "train.py")
        with open(script, "w", encoding="utf-8") as target:
            target.write("print('hi')\n")
        self.tell("run", "script", script, "--pool", self.pool, "--image", "gpupool.dev/busybox:1", "--", "--epochs", "3")
        job = self.job("script")
        job.wait_phase("Running")
        self.assertFalse(job.read()["spec"]["suspend"])
        config = self.api.get("configmaps", "script-script", self.namespace)
        self.assertEqual({"train.py": "print('hi')\n"}, config["data"])
        self.assertTrue(config["immutable"])
        self.assertEqual(job.read()["metadata"]["uid"], config["metadata"]["ownerReferences"][0]["uid"])
        worker = self.worker(job)["spec"]["containers"][0]
        self.assertEqual(["python3", "/gpupool-script/train.py", "--epochs", "3"], worker["command"][-4:])
        self.tell("cancel", "script")
        wait_for("the ConfigMap to go with its job",
                 lambda: not self.api.find("configmaps", "script-script", self.namespace))

    def test_what_is_printed_can_be_created(self):
        text = self.tell("run", "dry", "--pool", self.pool, "--gpus", "2", "--image", "i", "--dry-run=client", "-o", "yaml",
                         "--", "sh", "-c", "true")
        self.assertFalse(self.job("dry").exists())
        self.tell("run", "-f", "-", "--dry-run=server", text=text)
        self.assertFalse(self.job("dry").exists())
        self.tell("run", "-f", "-", "--gpus", "1", text=text)
        self.assertEqual(1, self.job("dry").read()["spec"]["gpus"])
        code, _, err = self.ask("run", "-f", "-", text=text)
        self.assertEqual(1, code)
        self.assertIn("Error from server (AlreadyExists)", err)

    def test_suspend_resume_and_priority(self):
        job = self.run_job("moved")
        job.wait_phase("Running")
        self.tell("suspend", "moved")
        job.wait_phase("Suspended")
        self.tell("priority", "moved", "7")
        self.assertEqual(7, job.read()["spec"]["priority"])
        self.tell("resume", "gpujob.gpupool.dev/moved")
        job.wait_phase("Running")

    def test_queue_of_a_renter_and_of_an_administrator(self):
        self.run_job("wide", "--gpus", "3").wait_phase("Running")
        for name, priority in (("low", "1"), ("high", "9")):
            self.run_job(name, "--priority", priority).wait_reason("WaitingForNodes")
        code, out, err = self.ask("queue", self.pool)
        self.assertEqual(0, code, err)
        self.assertIn("you may not list those of all namespaces", err)
        self.assertRegex(out, r"(?ms)^- .*high.*^- .*low")
        self.act_as(None)
        self.assertRegex(self.tell("queue", self.pool), r"(?ms)^1 .*high.*^2 .*low")
        self.assertIn(self.namespace, self.tell("list", "-A"))

    def test_drain_of_an_owner(self):
        job = self.run_job("held")
        job.wait_phase("Running")
        node = job.nodes()[0]
        code, _, err = self.ask("drain", node)
        self.assertEqual(1, code)
        self.assertIn("Error from server (Forbidden)", err)
        self.act_as(None)
        process = self.start("drain", node, "--reason", "power")
        self.addCleanup(process.kill)
        self.assertEqual([f"node/{node} cordoned\n", f"{self.namespace}/held holds it: Running on 1 node\n"],
                         [process.stdout.readline() for _ in range(2)])
        self.assertTrue(self.api.get("nodes", node)["spec"]["unschedulable"])
        self.finish(job)
        self.assertEqual(f"node/{node} is free\n", process.communicate(timeout=60)[0])
        self.assertEqual(0, process.returncode)
        self.tell("undrain", node)
        self.assertNotIn("unschedulable", self.api.get("nodes", node)["spec"])

    def test_mistakes(self):
        for words, code, text in (
                (("lst",), 2, "Did you mean this?"), (("cancel",), 2, "JOB is required"), (("list", "--nope"), 2, "unknown flag"),
                (("describe", "nothing"), 1, 'Error from server (NotFound): gpujobs.gpupool.dev "nothing" not found'),
                (("list", "-A"), 1, "Error from server (Forbidden)"), (("queue", "no-such-pool"), 1, "NotFound"),
                (("list", "--context", "nowhere"), 1, "nowhere")):
            got, out, err = self.ask(*words)
            self.assertEqual(code, got, f"{words}: {out}{err}")
            self.assertIn(text, err)

    def test_doctor_and_completion(self):
        self.assertIn("ok    rights", self.tell("doctor"))
        self.run_job("one")
        self.assertEqual(["one", ":4"], self.tell("__complete", "cancel", "o").split())
        self.assertIn(self.pool, self.tell("__complete", "queue", "").split())
