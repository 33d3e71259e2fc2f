# SPDX-License-Identifier: Apache-2.0
"""The ledger as part of the release: what a job cost is in the books when the job is gone."""

import json
import tempfile
from typing import Any

from tests.install import rights
from tests.install.keeper import gpupool
from tests.install.site_under_test import Site
from tests.kit.certificate import make_certificate
from tests.kit.jobs import JobHandle
from tests.kit.manifests import PRICE, job_manifest
from tests.kit.names import API_VERSION, SYSTEM_NAMESPACE

VALUES = """
ledger:
  enabled: true
  image: {tag: dev}
  storage: {size: ""}
  tlsSecret: ledger
  proxyReaders: []
"""
# proxyReaders: a right of everybody would be one of the operator, too, which rights.check() wants to be used.
HOST = f"gpupool-ledger.{SYSTEM_NAMESPACE}.svc"


def check(site: Site) -> None:
    report, before = site.report, site.values
    with tempfile.TemporaryDirectory() as folder:
        make_certificate(folder, HOST, f"DNS:{HOST}")
        site.kubectl("-n", SYSTEM_NAMESPACE, "create", "secret", "tls", "ledger", f"--cert={folder}/tls.crt", f"--key={folder}/tls.key")
    site.values += VALUES
    site.helm("upgrade")
    site.api.patch("gpupools", "shared", {"spec": {"price": PRICE}})
    report.eventually("the ledger becomes ready", lambda: site.ready("ledger", 1))
    (pod,) = site.pods("ledger")
    report.check("it runs on a node that is in no pool", pod["spec"]["nodeName"] in ("ne", "nf"), pod["spec"]["nodeName"])
    rights.remember(site)
    site.kubectl("-n", SYSTEM_NAMESPACE, "rollout", "status", "deploy/gpupool-operator", "--timeout=120s")
    site.api.create("gpuaccounts", {
        "apiVersion": API_VERSION, "kind": "GpuAccount", "metadata": {"name": "payer"},
        "spec": {"namespaces": ["default"], "currency": "EUR", "budget": {"amount": "0.000001"}}})
    site.api.create("gpujobs", job_manifest("billed", "default", "shared", "sleep 3", slice={"count": 2}))
    job = JobHandle(site.api, "billed", "default")
    report.eventually("it waits for money", lambda: (job.status().get("reason") == "BudgetExhausted", job.show()))
    site.api.patch("gpuaccounts", "payer", {"spec": {"budget": {"amount": "100"}}})
    report.eventually("the billed job ends", lambda: (job.status().get("phase") == "Succeeded" and not job.status().get("lease"), job.show()))
    bill = job.status().get("bill", {})
    shown = site.kubectl("-n", "default", "get", "gpujobs", "billed", "-o", "wide")
    report.check("its cost is a column", bill.get("cost", "none") in shown, shown)
    job.delete()
    report.eventually("the job is gone", lambda: (not job.exists(), ""))
    report.eventually("its bill is in the books", lambda: (_total(site) == bill["cost"], f"{bill} {_ledger(site, 'bill')}"))
    report.eventually("its account shows it", lambda: (bill["cost"] == site.api.get("gpuaccounts", "payer").get("status", {}).get("spent"), ""))
    (line,) = json.loads(_ledger(site, "bill", "--namespace", "default", "--format", "json"))["lines"]
    _ledger(site, "correct", "--entry", str(line["entry"]), "--to", "0", "--reason", "a test")
    report.eventually("what is corrected is back in the budget", lambda: (
        site.api.get("gpuaccounts", "payer").get("status", {}).get("spent") == "0.000000", site.api.get("gpuaccounts", "payer")))
    shown = gpupool(site, "bill", "--month", line["from"][:7], "-o", "json")
    report.check("people read the bill of the job that is gone", json.loads(shown.stdout or "{}").get("report", {}).get("totals") == {"EUR": "0.000000"},
                 shown.stdout + shown.stderr)
    told = _ledger(site, "verify")
    report.check("the books are right", "the books are right" in told, told)
    site.api.delete("gpuaccounts", "payer")
    site.api.patch("gpupools", "shared", {"spec": {"price": None}})
    site.values = before
    site.helm("upgrade")
    report.eventually("without the value nothing is left of the ledger", lambda: (
        not site.pods("ledger") and not site.api.find("services", "gpupool-ledger", SYSTEM_NAMESPACE), ""))
    site.kubectl("-n", SYSTEM_NAMESPACE, "delete", "secret", "ledger")


def _ledger(site: Site, *words: str) -> Any:
    return site.kubectl("-n", SYSTEM_NAMESPACE, "exec", "deploy/gpupool-ledger", "--", "/gpupool-ledger", *words)


def _total(site: Site) -> Any:
    return json.loads(_ledger(site, "bill", "--namespace", "default", "--format", "json"))["totals"].get("EUR")
