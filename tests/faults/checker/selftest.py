# SPDX-License-Identifier: Apache-2.0
"""Tests the checker: it must complain of each breach of a rule, and not of a job that keeps all rules."""

from typing import Any

from tests.faults.checker import bill_breaches, claim_breaches, yield_breaches
from tests.faults.checker.breaches import BROKEN, lawful, lawful_data
from tests.faults.checker.forger import Forger
from tests.faults.checker.process import CheckerProcess
from tests.faults.checker.rule import Change
from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import Report

# How often a breach is shown again. Some rules judge only after somebody has led for a while without a break, and on a slow
# machine there may have been one.
AGAIN = 5


def self_test(lab: FaultLab, report: Report) -> None:
    """No operator may run meanwhile: it would clean up."""
    broken: dict[str, list[Any]] = {}
    for found in (BROKEN, yield_breaches.BROKEN, claim_breaches.BROKEN, bill_breaches.BROKEN):
        for rule, breaches in found.items():
            broken.setdefault(rule, []).extend(breaches)
    forger, checker = Forger(lab.api, lab.new_name()), CheckerProcess(lab.kubeconfig)

    def named(mark: str, rule: str | None = None) -> bool:
        return any(mark in c["what"] and rule in (None, c["rule"]) for c in checker.complaints)

    forger.set_up()
    try:
        with checker:
            forger.complained = named
            lawful(forger)
            lawful_data(forger)
            yield_breaches.lawful_yields(forger)
            claim_breaches.lawful_claims(forger)
            bill_breaches.lawful_bills(forger)
            checker.ask("explained")
            problems = [f"complained of a job that kept all rules: {checker.show()}"] if checker.complaints else []
            claim_breaches.begin_early(forger)
            marks = [(rule, breach, breach(forger)) for rule, breaches in broken.items() for breach in breaches]
            checker.ask("explained")
            for number, (rule, breach, mark) in enumerate(marks):
                for _ in range(AGAIN):
                    if named(mark, rule):
                        break
                    forger.lead(Change.KNOWN + 2)
                    mark = breach(forger)
                    checker.ask("explained")
                marks[number] = rule, breach, mark
            checker.ask("empty")
        problems += [f"no rule was broken for {rule}" for rule in checker.checked if rule not in broken]
        problems += [f"did not complain: {breach.__name__}" for rule, breach, mark in marks if not named(mark, rule)]
    finally:
        forger.tear_down()
    report.passed("kinds of violations shown to the checker, which saw them", len(marks))
    if problems:
        report.failed("--checker", "\n".join([*problems, checker.show()]))
