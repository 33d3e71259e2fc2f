# SPDX-License-Identifier: Apache-2.0
"""Alerts and dashboard ask for metrics that the programs have."""

import glob
import json
import os
import re
import unittest


from tests.deploy.chart import ALL_ON, template
from tests.kit.paths import ROOT

WORDS = {"sum", "rate", "by", "max", "min", "absent", "increase", "histogram_quantile", "label_replace", "without", "le",
         "or", "and", "unless", "avg", "count", "on", "time", "min_over_time", "max_over_time", "topk",
         "vector", "group_left", "group_right"}
OF_A_GPU = ("gpupool_gpu_busy_seconds_total", "gpupool_gpu_memory_used_bytes", "gpupool_gpu_temperature_celsius",
            "gpupool_gpu_power_watts")
# What nobody may overlook where limits are enforced, and what says how tight they are.
ENFORCEMENT = {"gpupool_plugin_limiter_missing", "gpupool_enforcement_state", "gpupool_enforcement_excess_bytes"}
UNKNOWN = {"gpupool_enforcement_unknown_name", "gpupool_enforcement_unknown_calls_total"}
REFUSALS = {"gpupool_enforced_refusals_total"}


def registered():
    """Every text in the sources that may be a metric's name."""
    names = set()
    for top in ("lib", "operator", "device-plugin", "keeper", "ledger"):
        for path in glob.glob(os.path.join(ROOT, top, "**", "*.cc"), recursive=True):
            with open(path, encoding="utf-8") as source:
                names |= set(re.findall(r'"([a-z]+(?:_[a-z]+)+)"', source.read()))
    return names


def asked(expression):
    """The metrics of a PromQL expression."""
    bare = re.sub(r"\{[^}]*\}|\"[^\"]*\"|\[[^\]]*\]|\b(?:by|without|on|group_left)\s*\([^)]*\)", " ", expression)
    names = set(re.findall(r"\b[a-z]+(?:_[a-z]+)*\b", bare)) - WORDS
    return {re.sub(r"_(bucket|sum|count)$", "", name) for name in names}


def of_kind(kind):
    return [item for item in template(*ALL_ON) if item["kind"] == kind]


class MonitoringTest(unittest.TestCase):
    def test_alerts(self):
        (rules,) = of_kind("PrometheusRule")
        alerts = [rule for group in rules["spec"]["groups"] for rule in group["rules"]]
        self.assertGreater(len(alerts), 5)
        self.assertEqual(len({rule["alert"] for rule in alerts}), len(alerts))
        for rule in alerts:
            self.assertTrue(asked(rule["expr"]), rule["expr"])
            self.assertLessEqual(asked(rule["expr"]), registered(), rule["alert"])
            self.assertEqual({"summary", "description"}, set(rule["annotations"]), rule["alert"])
            self.assertIn(rule["labels"]["severity"], ("warning", "critical"))

    def dashboard(self):
        board = next(item for item in of_kind("ConfigMap") if item["metadata"]["name"].endswith("dashboard"))
        (text,) = board["data"].values()
        return json.loads(text)

    def test_dashboard(self):
        expressions = [target["expr"] for panel in self.dashboard()["panels"] for target in panel.get("targets", [])]
        self.assertGreater(len(expressions), 5)
        for expression in expressions:
            self.assertTrue(asked(expression), expression)
            self.assertLessEqual(asked(expression), registered(), expression)

    def test_alerts_and_dashboard_tell_where_limits_do_not_hold(self):
        (rules,) = of_kind("PrometheusRule")
        alerted = set().union(*(asked(rule["expr"]) for group in rules["spec"]["groups"] for rule in group["rules"]))
        self.assertLessEqual(ENFORCEMENT, alerted)
        self.assertTrue(UNKNOWN & alerted)
        shown = set().union(*(asked(target["expr"]) for panel in self.dashboard()["panels"] for target in panel["targets"]))
        self.assertLessEqual(ENFORCEMENT | REFUSALS, shown)
        self.assertTrue(UNKNOWN & shown)

    def test_labels_of_pods_are_those_of_the_metrics(self):
        (monitor,) = of_kind("ServiceMonitor")
        self.assertEqual([True], [endpoint.get("honorLabels") for endpoint in monitor["spec"]["endpoints"]])

    def test_dashboard_shows_the_use_of_each_gpu(self):
        panels = self.dashboard()["panels"]
        self.assertEqual(len(panels), len({panel["id"] for panel in panels}))
        places = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}
        self.assertEqual(len(panels), len(places), "panels lie on each other")
        for metric in OF_A_GPU:
            (target,) = [target for panel in panels for target in panel["targets"]
                         if metric + "{" in target["expr"] and "GPU {{index}}" in target["legendFormat"]]
            self.assertIn("group_left (index) gpupool_gpu_info", target["expr"])

    def test_services_and_monitors_find_the_pods(self):
        pods = [item["spec"]["template"]["metadata"]["labels"] for kind in ("Deployment", "DaemonSet")
                for item in of_kind(kind)]
        services = [item for item in of_kind("Service") if item["metadata"]["name"].endswith("metrics")]
        self.assertEqual(len(services), 4)
        for service in services:
            self.assertEqual(1, sum(service["spec"]["selector"].items() <= labels.items() for labels in pods))
        for monitor in of_kind("ServiceMonitor"):
            wanted = monitor["spec"]["selector"]["matchLabels"].items()
            self.assertTrue(any(wanted <= service["metadata"]["labels"].items() for service in services))

    def test_the_check_finds_a_wrong_name(self):
        self.assertEqual({"gpupool_jbos"}, asked('sum by (phase) (gpupool_jbos{phase="Running"})') - registered())
