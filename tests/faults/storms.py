"""All scenarios at the same time and again and again, while the operator suffers or dies at random."""

import random
import threading
import time
import traceback

from report import RULES, RUNS
from scenarios import SCENARIOS

# A start alone takes about 10 calls; one that never gets further would make no progress.
SHORTEST_LIFE, LONGEST_LIFE = 12, 80


def crashes(seed):
    numbers = random.Random(seed)
    while True:
        yield f"{numbers.choice(('before', 'after'))}:{numbers.randint(SHORTEST_LIFE, LONGEST_LIFE)}"


def storm(lab, report, seconds, title, supervisor):
    """title is enough to do it again."""
    worlds = [(scenario, lab.new_world()) for scenario in SCENARIOS.values()]
    before, end = len(lab.kubelet.violations), time.monotonic() + seconds
    with supervisor:
        threads = [threading.Thread(target=_live, args=(scenario, world, supervisor, report, end, title))
                   for scenario, world in worlds]
        for thread in threads:
            thread.start()
        time.sleep(max(0.0, end - time.monotonic()))
        supervisor.calm()
        for thread in threads:
            thread.join()
        problems = supervisor.problems + lab.kubelet.violations[before:]
        failed = [world for _, world in worlds if not _torn_down(world, problems)]
    for world in failed:
        world.abandon()
    report.add(supervisor, [])
    if problems:
        report.failed(title, "\n".join(problems))


def _torn_down(world, problems):
    try:
        world.tear_down()
        return True
    except Exception:  # pylint: disable=broad-exception-caught
        problems.append(traceback.format_exc())
        return False


def _live(scenario, world, supervisor, report, end, title):
    world.supervisor = supervisor
    while True:
        try:
            result = scenario.run(world)
        except Exception:  # pylint: disable=broad-exception-caught
            report.failed(f"{title} ({scenario.name})", traceback.format_exc())
            return
        if result != scenario.expected:
            report.failed(f"{title} ({scenario.name})", f"ended with {result} instead of {scenario.expected}")
            return
        report.checked(RULES[0])
        report.passed(RUNS)
        if time.monotonic() > end:
            return
