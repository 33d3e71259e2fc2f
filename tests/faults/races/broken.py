"""A race that fails tells only that, leaves nothing behind, and the next one begins as usual."""

from races.fleet import GPUS
from races.race import Race
from report import Report
from support.leaks import find_leaks
from support.waiting import wait_for

WHY = "broken on purpose"


class Kept(Report):
    """What has failed is not this run's failure."""

    def failed(self, what, why):
        self.failures.append(why)


class BrokenRace(Race):
    """Ends in the middle, when jobs hold nodes and have workers."""

    def _run_to_its_end(self, *_):
        wait_for("workers", lambda: sum(len(self._api.list("pods", space)) for space in self._namespaces()) > 3)
        raise AssertionError(WHY)


def broken_races(lab, report, seed):
    kept = Kept()
    for _ in range(2):
        BrokenRace(lab, kept, seed, 80, "").run()
    # Behind the traceback comes only where the records are kept.
    problems = [why for why in kept.failures if why.count("Traceback") != 1 or
                not why.rsplit("\nthe operators' logs", 1)[0].rstrip().endswith(WHY)]
    problems += [f"a pool is left: {pool}" for pool in GPUS if lab.api.find("gpupools", pool)] + find_leaks(lab.api)
    if problems or len(kept.failures) != 2:
        report.failed("--checker (broken races)", "\n".join(problems) or "did not fail")
    else:
        report.passed("races broken on purpose, after which the cluster was as new", 2)
