# SPDX-License-Identifier: Apache-2.0
"""Runs the steps in order; some run beside others, because they mostly wait."""

import threading
from typing import Collection, Iterable

from tests.runner.builds import BuildAhead
from tests.runner.control_plane import ControlPlane
from tests.runner.shell import Interrupted, Shell
from tests.runner.step_report import Report
from tests.runner.steps import STEPS, Run, fixed_addresses

# Groups of chains: the steps of a chain run one after the other, the chains of a group side by side. Steps of different
# chains share no cluster.
SANITIZERS = ("asan", "tsan")
COMPILE = ("build", "format", "layers", "tidy", "unit")  # leave no processor idle
# Fault tests, and the benchmarks beside them, use all processors, and their waits have limits: nothing is compiled meanwhile.
BUSY = "faults"
BESIDE = ((("crds", "deploy"), ("health",)), (("faults",), ("bench",)), (("preflight", "images"), ("limiter", "page", "keeper")),
          (("install",), ("demo", "data")), (SANITIZERS, ("cluster",)))


def groups(steps: Iterable[str], wanted: Collection[str]) -> list[list[list[str]]]:
    """Groups of chains that hold each wanted step once, in the order of the steps. Without wanted steps all are."""
    chosen = [step for step in steps if not wanted or step in wanted]
    found: list[list[list[str]]] = []
    taken: set[str] = set()
    for step in chosen:
        if step in taken:
            continue
        beside = next((chains for chains in BESIDE if any(step in chain for chain in chains)), ((step,),))
        group = [[each for each in chain if each in chosen] for chain in beside]
        found.append([chain for chain in group if chain])
        taken.update(each for chain in found[-1] for each in chain)
    return found


class Schedule:
    def __init__(self, report: Report, record_times: bool) -> None:
        self._report, self._record_times = report, record_times
        self._control_plane = ControlPlane(Shell())
        self._ahead: BuildAhead | None = None

    def run(self, wanted: Collection[str]) -> None:
        chosen = groups(STEPS, wanted)
        for group in chosen:
            if not self._ahead and group[0][0] not in (*COMPILE, *SANITIZERS):
                sanitized = [chain[0] for each in chosen for chain in each if chain[0] in SANITIZERS]
                self._ahead = BuildAhead(sanitized, fixed_addresses(Shell()))
            if self._ahead:
                self._ahead.pause(any(BUSY in chain for chain in group))
            if len(group) == 1:
                self._run_chain(group[0], Shell())
            else:
                self._run_beside(group)

    def close(self) -> None:
        if self._ahead:
            self._ahead.close()
        self._control_plane.stop()

    def _run_chain(self, chain: list[str], shell: Shell) -> None:
        for name in chain:
            with self._report.step(name, STEPS[name].__doc__ or "") as result:
                STEPS[name](Run(result, shell, self._control_plane, self._record_times))

    def _run_beside(self, chains: list[list[str]]) -> None:
        """If this thread is interrupted, so are the others, and what they have started."""
        shells = [Shell(whole_lines=True) for _ in chains]
        errors: list[BaseException] = []

        def work(chain: list[str], shell: Shell) -> None:
            try:
                self._run_chain(chain, shell)
            except Interrupted:
                pass
            except BaseException as error:  # pylint: disable=broad-exception-caught
                errors.append(error)

        threads = [threading.Thread(target=work, args=each) for each in zip(chains, shells)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except BaseException:
            for shell in shells:
                shell.interrupt()
            for thread in threads:
                thread.join()
            raise
        if errors:
            raise errors[0]
