# SPDX-License-Identifier: Apache-2.0
"""Calls helm on our chart."""

import os
import subprocess

import yaml

from tests.kit.commands import output_of
from tests.kit.names import SYSTEM_NAMESPACE
from tests.kit.paths import ROOT

CHART = os.path.join(ROOT, "deploy", "helm", "gpupool")
ALL_ON = ["--set", "metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,metrics.dashboard.enabled=true,"
          "networkPolicy.restrictEgress=true,priorityClass.create=true,placementPolicy.enabled=true,"
          "web.enabled=true,web.tlsSecret=page,web.hosts={gpus.example.com},keeper.enabled=true,keeper.keysSecret=keys,keeper.tlsSecret=keeper,ledger.enabled=true,ledger.tlsSecret=ledger"]


class HelmError(Exception):
    pass


def helm_path():
    return output_of(ROOT / "deps" / "helm")


def helm(*arguments, text=None):
    done = subprocess.run([helm_path(), *arguments], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HelmError(done.stderr)
    return done.stdout


def template(*options, text=None, kube="1.36.0"):
    """The objects of the chart. text: a values file."""
    values = ["--values", "-"] if text is not None else []
    rendered = helm("template", "gpupool", CHART, "--namespace", SYSTEM_NAMESPACE, "--kube-version", kube, *values,
                    *options, text=text)
    return [item for item in yaml.safe_load_all(rendered) if item]


def of_kind(objects, kind):
    return [item for item in objects if item["kind"] == kind]
