# SPDX-License-Identifier: Apache-2.0
"""`make demo PART=billing`: two tenants rent machines of two owners, one with a budget; then a bill for each, a payout, and books that anybody can check."""

import json
import tempfile
from decimal import Decimal
from typing import Any

from demo.show import demo_cluster
from demo.show.follow import follow, has_succeeded
from demo.show.kubectl import Kubectl
from tests.kit.api import Object
from tests.kit.ledger_process import LedgerProcess
from tests.kit.manifests import job_manifest
from tests.kit.names import API_VERSION, OWNER_LABEL
from tests.kit.waiting import wait_for

POOL, TENANTS = "demo", ("team-a", "team-b")
OWNERS = {"na": "alice", "nb": "bob", "nc": "bob"}
PRICE = {"currency": "EUR", "perGpuHour": "3.60", "fee": 10}
JOBS = {("team-a", "gang"): (2, 8), ("team-b", "single"): (1, 5)}  # GPUs, seconds
MISER, PAYS = "miser", "1.00"
POOR = "team-b"  # has a budget, which does not pay for ten minutes of a job at first
BUDGET = {"apiVersion": API_VERSION, "kind": "GpuAccount", "metadata": {"name": POOR},
          "spec": {"namespaces": [POOR], "currency": PRICE["currency"], "budget": {"amount": "0.10"}, "onExhausted": "Suspend"}}
TIMEOUT = 120


def prepare(kubectl: Kubectl) -> None:
    for namespace in TENANTS:
        kubectl.run("create", "namespace", namespace)
    for node, owner in OWNERS.items():
        print(f"kubectl label node {node} {OWNER_LABEL}={owner}")
        kubectl.run("label", "node", node, f"{OWNER_LABEL}={owner}")


def run(kubectl: Kubectl) -> list[str]:
    """Prints how it goes; returns what did not come as promised."""
    change = json.dumps({"spec": {"price": PRICE}})
    print(f"kubectl patch gpool {POOL} --type=merge -p '{change}'")
    kubectl.run("patch", "gpool", POOL, "--type=merge", "-p", change)
    with tempfile.TemporaryDirectory() as folder:
        ledger = LedgerProcess(demo_cluster.environment()["KUBECONFIG"], folder)
        ledger.start()
        try:
            ledger.wait_ready()
            return _rent(kubectl, ledger)
        finally:
            ledger.kill()


def _rent(kubectl: Kubectl, ledger: LedgerProcess) -> list[str]:
    problems = []
    _submit(kubectl, "team-b", MISER, 1, 1, maxPricePerGpuHour=PAYS)
    waits = follow(kubectl, MISER, lambda s: s.get("reason") == "PriceTooHigh", TIMEOUT, "team-b")
    print(f"\nteam-b/{MISER} pays {PAYS} at most and waits: {waits['message']}")
    kubectl.apply_text(json.dumps(BUDGET))
    for (namespace, name), (gpus, seconds) in JOBS.items():
        _submit(kubectl, namespace, name, gpus, seconds)
        if namespace == POOR:
            _wait_for_money(kubectl, name)
    bills = {}
    for namespace, name in JOBS:
        bills[namespace] = follow(kubectl, name, has_succeeded, TIMEOUT, namespace)["bill"]
    print("\n$ kubectl get gjob -A -o wide\n" + kubectl.run("get", "gjob", "-A", "-o", "wide").rstrip())
    print("\n$ kubectl gpupool bill -A\n" + kubectl.run("gpupool", "bill", "-A").rstrip())
    for namespace in TENANTS:
        kubectl.run("delete", "gjob", "--all", "-n", namespace)
    print("\nThe jobs are deleted. The ledger has their bills:")
    wait_for("the books to be complete", lambda: all(_total(ledger, "bill", "-n", namespace) == Decimal(bill["cost"])
                                                     for namespace, bill in bills.items()), detail=ledger.log)
    for command in (*(("bill", "--namespace", namespace) for namespace in TENANTS), ("payout",), ("explain", "team-a/gang"), ("verify",)):
        done = ledger.run(*command)
        print(f"\n$ gpupool-ledger {' '.join(command)}\n{done.stdout.rstrip()}{done.stderr}", flush=True)
        if done.returncode != 0:
            problems.append(f"gpupool-ledger {command[0]} failed")
    return problems + _check(ledger, bills)


def _wait_for_money(kubectl: Kubectl, name: str) -> None:
    waits = follow(kubectl, name, lambda s: s.get("reason") == "BudgetExhausted", TIMEOUT, POOR)
    print(f"\n{POOR}/{name} waits for money: {waits['message']}")
    change = json.dumps({"spec": {"budget": {"amount": "100"}}})
    print(f"kubectl patch gpuaccount {POOR} --type=merge -p '{change}'")
    kubectl.run("patch", "gpuaccount", POOR, "--type=merge", "-p", change)


def _check(ledger: LedgerProcess, bills: dict[str, Object]) -> list[str]:
    paid, due = _total(ledger, "payout"), sum(Decimal(bill["cost"]) for bill in bills.values())
    print(f"\nTenants pay {due} EUR, of which owners get {paid} EUR and the platform {due - paid} EUR")
    problems = [] if due * Decimal("0.9") <= paid <= due * Decimal("0.9") + Decimal("0.0001") else ["the owners did not get 90 %"]
    for (namespace, name), (gpus, seconds) in JOBS.items():
        if bills[namespace]["gpuSeconds"] < gpus * seconds:
            problems.append(f"{namespace}/{name} held {gpus} GPUs for {seconds} s and is billed for {bills[namespace]['gpuSeconds']} GPU-seconds")
    return problems


def _total(ledger: LedgerProcess, *words: str) -> Decimal:
    return Decimal(ledger.statement(*words)["totals"].get("EUR", "0"))


def _submit(kubectl: Kubectl, namespace: str, name: str, gpus: int, seconds: int, **spec: Any) -> None:
    manifest = job_manifest(name, namespace, POOL, f"sleep {seconds}", gpus=gpus, rendezvous="None", **spec)
    kubectl.apply_text(json.dumps(manifest))
