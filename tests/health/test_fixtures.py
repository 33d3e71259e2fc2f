# SPDX-License-Identifier: Apache-2.0
"""Argo CD's scripts and the rules of kstatus say about every fixture what they must."""

import os
import re
import tempfile
import unittest

from tests.health import argo, fixtures, kstatus, verdicts
from tests.health.test_reasons import typed_reasons
from tests.kit.paths import cpp_header


def reasons():
    """The operator's typed reasons."""
    return typed_reasons()["reason"]


def phases():
    header = cpp_header("gpu_job.h").read_text(encoding="utf-8")
    block = re.search(r"namespace phase \{(.*?)\n\}", header, re.S).group(1)
    return set(re.findall(r'"(\w+)"', block))


def said_reasons(objekt):
    status = objekt.get("status") or {}
    return {status.get("reason")} | {condition["reason"] for condition in status.get("conditions", [])}


class VerdictTest(unittest.TestCase):
    def test_each_fixture(self):
        self.assertEqual(sorted(verdicts.OF), fixtures.names())
        for name, (of_kstatus, of_argo) in verdicts.OF.items():
            with self.subTest(fixture=name):
                objekt = fixtures.load(name)
                self.assertEqual((of_kstatus, of_argo), (kstatus.status(objekt)[0], argo.health(objekt)[0]))

    def test_whoever_waits_or_must_act_reads_why(self):
        for name in verdicts.OF:
            with self.subTest(fixture=name):
                objekt = fixtures.load(name)
                status = objekt["status"]
                said = status.get("message") or next(
                    (c.get("message") for c in status.get("conditions", []) if c["type"] == "Ready"), None)
                if objekt["metadata"].get("deletionTimestamp") or name.endswith(("-new", "-unseen")):
                    continue
                self.assertTrue(said)
                self.assertIn(self.stalled(status) or said, argo.health(objekt)[1])
                if verdicts.OF[name][0] != "Current":
                    self.assertEqual(self.stalled(status) or said, kstatus.status(objekt)[1])

    @staticmethod
    def stalled(status):
        """Where it is another message than that of the status."""
        return next((c["message"] for c in status.get("conditions", [])
                     if (c["type"], c["status"]) == ("Stalled", "True")), None)

    def test_conditions_contradict_each_other_nowhere(self):
        for name in verdicts.OF:
            with self.subTest(fixture=name):
                true = {c["type"] for c in fixtures.load(name)["status"].get("conditions", []) if c["status"] == "True"}
                for pair in (("Reconciling", "Stalled"), ("Complete", "Failed"), ("Ready", "Stalled"),
                             ("Reconciling", "Complete"), ("Reconciling", "Running")):
                    self.assertLess(len(true.intersection(pair)), 2, pair)


class CompleteTest(unittest.TestCase):
    def test_every_phase_and_reason_is_there(self):
        objects = [fixtures.load(name) for name in fixtures.names()]
        self.assertEqual(phases(), {o["status"]["phase"] for o in objects if "phase" in o["status"]})
        self.assertGreater(len(reasons()), 25)
        shown = set().union(*map(said_reasons, objects))
        self.assertEqual(set(verdicts.LIKE), reasons() - shown)
        self.assertLessEqual(set(verdicts.LIKE.values()), set(verdicts.OF))

    def test_all_kinds_have_a_script(self):
        self.assertEqual({"GpuJob", "GpuPool", "GpuSweep"}, {fixtures.load(name)["kind"] for name in fixtures.names()})


class ScriptTest(unittest.TestCase):
    def test_no_field_of_a_status_is_needed(self):
        """Argo CD shows an error of the script instead of a health."""
        for name in ("gpujob-running", "gpujob-stalled-forbidden", "gpusweep-running", "gpusweep-stalled-invalid-spec",
                      "gpupool-ready", "gpupool-stalled-node-selector"):
            objekt = fixtures.load(name)
            for field in (None, *objekt["status"]):
                with self.subTest(fixture=name, without=field or "status"):
                    status = {key: value for key, value in objekt["status"].items() if key != field}
                    argo.health({**objekt, "status": status if field else {}})
            argo.health({key: value for key, value in objekt.items() if key != "status"})

    def test_interpreter_has_only_what_argo_cd_has(self):
        for line in ('string.format("x")', '("x"):upper()', "math.floor(1)", 'os.execute("true")', "7 // 2"):
            with self.subTest(line=line), tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
                script.write(f"local x = {line}\nreturn {{status = 'Healthy'}}\n")
                script.flush()
                with self.assertRaises(AssertionError):
                    argo.health({"kind": "GpuJob"}, script.name)
