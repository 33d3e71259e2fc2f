# SPDX-License-Identifier: Apache-2.0
"""Tests the checker: it must complain of each breach of a rule, and not of a job that keeps all rules."""

from tests.faults.checker import yield_breaches
from tests.faults.checker.breaches import BROKEN, lawful, lawful_data
from tests.faults.checker.forger import Forger
from tests.faults.checker.process import CheckerProcess
from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import Report


def self_test(lab: FaultLab, report: Report) -> None:
    """No operator may run meanwhile: it would clean up."""
    broken = {**BROKEN, **yield_breaches.BROKEN}
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
            checker.ask("explained")
            problems = [f"complained of a job that kept all rules: {checker.show()}"] if checker.complaints else []
            marks = [(rule, breach.__name__, breach(forger)) for rule, found in broken.items() for breach in found]
            checker.ask("explained")
            checker.ask("empty")
        problems += [f"no rule was broken for {rule}" for rule in checker.checked if rule not in broken]
        problems += [f"did not complain: {breach}" for rule, breach, mark in marks if not named(mark, rule)]
    finally:
        forger.tear_down()
    report.passed("kinds of violations shown to the checker, which saw them", len(marks))
    if problems:
        report.failed("--checker", "\n".join([*problems, checker.show()]))
