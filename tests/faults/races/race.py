# SPDX-License-Identifier: Apache-2.0
"""Eight writers, nodes that come and go, two operators that die, and a checker that watches."""

import os
import random
import threading
import time
import traceback
from typing import Any

from tests.faults.artifacts import save_artifacts
from tests.faults.books_compared import BOOKED, differences, enter_records
from tests.faults.checker.claim_rules import ClaimComesFirst, TakesWhatIsFree
from tests.faults.checker.process import CheckerProcess
from tests.faults.cleanup import remove_everything
from tests.faults.fault_lab import FaultLab
from tests.faults.fault_report import Report
from tests.faults.operator_pair import DisturbedPair
from tests.faults.races.delete_storm import delete_storm
from tests.faults.races.fleet import GPUS, Fleet, NodeDisturber
from tests.faults.races.foreign import ForeignWriters
from tests.faults.races.node_controller import NodeController
from tests.faults.races.race_kubelets import RaceKubelets
from tests.faults.races.writers import Writer
from tests.faults.run_record import RunRecord
from tests.kit.waiting import wait_for

WRITERS = 8
SURVIVES = "every foreign edit of a node survives"
REST = (4, 12)  # seconds between two disturbances of an operator: a takeover alone takes three
JOBS_A_DISTURBANCE = 10
DISTURBED = 0.5  # of the jobs end while there is trouble; some are deleted, by others or by their TTL, or cannot run
ENOUGH_FOR_CLAIMS = 150  # submissions: of fewer, by chance none may claim; the crash points try claims in any case
LIMIT = 600  # only for hangs


class Race:
    def __init__(self, lab: FaultLab, report: Report, seed: int, submissions: int, again: str,
                 seconds: float | None = None, foreign: int = 0) -> None:
        """again: what repeats it. seconds: no more is submitted after them. With foreign writers nodes do not come and go."""
        self._lab, self._report, self._seed, self._again = lab, report, seed, again
        self._submissions, self._seconds, self._foreign = submissions, seconds, foreign
        self._api = lab.api
        self._name = lab.new_name()
        self._writers = [Writer(self._api, f"{self._name}-{i}", submissions // WRITERS, seed * 100 + i) for i in range(WRITERS)]
        self._storm_size = 50 if seconds else max(50, submissions // 20)
        self._problems, self._progress_when_disturbed = [], 0
        self._record = os.path.join(os.path.dirname(lab.log), f"{self._name}.jsonl.gz")  # what the checker sees

    def run(self) -> None:
        begin, kubelets = time.monotonic(), RaceKubelets(self._api)
        fleet = Fleet(self._api, self._lab.nodes, kubelets, [writer.namespace for writer in self._writers])
        checker = CheckerProcess(self._lab.kubeconfig, self._record)
        operators = DisturbedPair(self._lab.pair(), self._seed, REST, self._recovered)
        try:
            fleet.set_up()
            for namespace in self._namespaces():
                self._api.create("namespaces", {"metadata": {"name": namespace}})
            with checker, operators:
                self._race(fleet, checker, operators)
            self._judge_books(checker)
        except Exception:  # pylint: disable=broad-exception-caught
            self._problems.append(traceback.format_exc())
        finally:
            fleet.remove_all()
            kubelets.close()
        try:
            remove_everything(self._api, self._namespaces(), GPUS)
        except Exception:  # pylint: disable=broad-exception-caught
            self._problems.append(traceback.format_exc())
        self._judge(checker, operators, kubelets.run_record, time.monotonic() - begin)

    def _namespaces(self) -> list[Any]:
        return [self._name, *(writer.namespace for writer in self._writers)]

    def _race(self, fleet: Fleet, checker: CheckerProcess, operators: DisturbedPair) -> None:
        disturber = NodeDisturber(fleet, random.Random(self._seed), self._progress)
        end = time.monotonic() + (self._seconds or 1e9)
        storm = threading.Thread(target=self._storm, daemon=True)
        others = ForeignWriters(self._api, fleet.names(*GPUS), self._seed, self._foreign)
        controller = NodeController(self._api, self._seed)  # it would undo what foreign writers do as well
        trouble: list[Any] = [] if self._foreign else [disturber, storm, controller]
        for thread in (*self._writers, others, *trouble):
            thread.start()
        try:
            self._run_to_its_end(fleet, checker, operators, (disturber, controller), storm, others, end)
        finally:  # after a failure, too, nobody writes on
            others.close()
            for writer in self._writers:
                writer.close()
                writer.join()
            if not self._foreign:
                disturber.close()
                controller.close()

    def _run_to_its_end(self, fleet: Fleet, checker: CheckerProcess, operators: DisturbedPair, trouble: Any,
                        storm: threading.Thread,
                        others: ForeignWriters, end: float) -> None:
        disturber, controller = trouble
        while time.monotonic() < end and (any(writer.left for writer in self._writers) or others.idle() or
                                          self._progress() < DISTURBED * self._submissions):
            time.sleep(0.2)
        for writer in self._writers:
            writer.left = 0
        if not self._foreign:
            disturber.close()
            controller.close()
        operators.calm()
        wait_for("all jobs to end", lambda: all(writer.drained for writer in self._writers), LIMIT, self._undone)
        if not self._foreign:
            storm.join(LIMIT)
        others.close()
        self._judge_others(others)
        checker.ask("explained")
        self._problems += disturber.problems
        self._report.injected.update(disturber.counts + controller.counts)
        for writer in self._writers:
            writer.close()
            writer.join()
            self._api.call("DELETE", self._api.url("gpujobs", writer.namespace))
        wait_for("all jobs to be gone", self._all_gone, LIMIT, self._undone)
        fleet.tear_down()
        wait_for("the nodes to be clean", lambda: not self._lab.nodes.traces())
        checker.ask("empty")

    def _progress(self) -> int:
        return sum(writer.ended for writer in self._writers)

    def _recovered(self) -> bool:
        """Jobs have ended since the last disturbance: on a slow machine there would be nothing else."""
        if self._progress() < self._progress_when_disturbed + JOBS_A_DISTURBANCE:
            return False
        self._progress_when_disturbed = self._progress()
        return True

    def _storm(self) -> None:
        try:
            delete_storm(self._api, self._name, self._storm_size, self._seed)
            self._report.injected["jobs deleted in a storm"] += self._storm_size
        except Exception:  # pylint: disable=broad-exception-caught
            self._problems.append(traceback.format_exc())

    def _all_gone(self) -> bool:
        return not any(self._api.list("gpujobs", writer.namespace) for writer in self._writers)

    def _undone(self) -> Any:
        return "\n".join(line for writer in self._writers for line in writer.waits_for())[:8000]

    def _judge_books(self, checker: CheckerProcess) -> None:
        """No ledger has run. What jobs have held is entered now, from what was kept of them."""
        enter_records(self._api, self._lab.ledger)
        found = differences(self._lab.ledger, checker.billed)
        self._problems += found
        self._report.checked(BOOKED, len(checker.billed))
        for _ in found:
            self._report.violated(BOOKED)

    def _judge_others(self, others: ForeignWriters) -> None:
        edits, losses, idle = others.edits(), others.losses(), others.idle()
        self._report.injected.update(edits)
        self._problems += losses + ([f"these foreign writers have hardly written: {idle}"] if idle else [])
        if self._foreign:
            self._report.checked(SURVIVES, sum(edits.values()))
        for _ in losses:
            self._report.violated(SURVIVES)

    def _judge(self, checker: CheckerProcess, operators: DisturbedPair, run_record: RunRecord, seconds: float) -> None:
        self._report.add(operators, [])
        for writer in self._writers:
            self._report.injected.update(writer.counts)
            self._problems += writer.problems
        for rule, count in checker.checked.items():
            self._report.checked(rule, count)
        for complaint in checker.complaints:
            self._report.violated(complaint["rule"])
        self._problems += [*operators.problems, *run_record.violations]
        self._problems += [checker.show()] if checker.complaints else []
        if not checker.checked:
            self._problems.append("the checker has said nothing")
        told, took = (checker.checked.get(rule.name, 0) for rule in (ClaimComesFirst, TakesWhatIsFree))
        enough = not self._foreign and self._submissions >= ENOUGH_FOR_CLAIMS
        if enough and not self._problems and not (told and took):
            self._problems.append(f"{told} jobs made room and {took} claims took nodes: nothing of that was tried")
        submitted = sum(writer.counts["jobs submitted"] for writer in self._writers)
        print(f"race: {submitted} submissions in {seconds:.0f} s, {submitted / seconds:.1f}/s, "
              f"{len(run_record.runs)} commands run, {told} jobs made room, {took} claims took nodes, "
              f"{len(checker.complaints)} complaints", flush=True)
        if self._problems:
            self._problems.append(f"the operators' logs and all that the checker saw are in {self._save_artifacts(operators)}")
            self._report.failed(self._again, "\n".join(self._problems))
        else:
            self._report.passed("races")
        if os.path.exists(self._record):
            os.remove(self._record)

    def _save_artifacts(self, operators: DisturbedPair) -> Any:
        name = f"{'foreign' if self._foreign else 'races'}-{self._seed}"
        return save_artifacts(name, [self._record, *operators.logs()], disturbances="\n".join(operators.disturbances),
                              problems="\n".join(self._problems))
