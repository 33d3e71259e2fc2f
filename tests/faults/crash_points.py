"""One scenario, and an operator that dies exactly before or after its n-th call."""

import traceback

from supervisor import Supervisor

MARK_LIMIT = 5.0  # promise 2 of the design


class CrashPoints:
    def __init__(self, lab, report):
        self._lab, self._report = lab, report

    def every(self, scenario):
        """Crashes at each call of this scenario, until none comes because there are no more calls."""
        for when in ("before", "after"):
            n, missed = 1, 0
            while missed < 3:
                crashes = self.run(scenario, [f"{when}:{n}"])
                missed = 0 if crashes else missed + 1
                n += 1
            print(f"{scenario.name}: died {when} each of {n - 1 - missed} calls", flush=True)

    def run(self, scenario, lives, faults=""):
        """How often the operator died. lives: GPUPOOL_CRASH of each start."""
        again = f"--scenario {scenario.name}" + "".join(f" --crash {life}" for life in lives)
        again += faults and f" --faults {faults}"
        world, kubelet = self._lab.world, self._lab.kubelet
        before, world.slowest_mark = len(kubelet.violations), 0.0
        with Supervisor(self._lab.process, lives, faults) as supervisor:
            world.supervisor = supervisor
            try:
                result, problems = scenario.run(world), []
                if result != scenario.expected:
                    problems.append(f"ended with {result} instead of {scenario.expected}")
                if world.slowest_mark > MARK_LIMIT and not faults:
                    problems.append(f"{world.slowest_mark:.1f} s until all that was left was marked for deletion")
            except Exception:  # pylint: disable=broad-exception-caught
                problems = [traceback.format_exc()]
        problems += supervisor.problems + kubelet.violations[before:]
        self._report.add(supervisor, [world])
        if problems:
            self._report.failed(again, "\n".join(problems))
            self._lab.fresh_world()
        else:
            self._report.passed("runs that ended as without faults")
        return len(supervisor.crashes)
