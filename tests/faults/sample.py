"""The part of everything that the ordinary tests run: two control planes side by side, since most of it is waiting."""

import os
import subprocess
import sys

import modes

POINTS = 200
SUBMISSIONS = 96
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run")
LIMIT = 1500  # only for hangs


def sample(lab, report, seed):
    command = [PROGRAM, "--points", str(POINTS), "--seed", str(seed)]
    own = {name: value for name, value in os.environ.items() if name != "TEST_KUBECONFIG"}
    points = subprocess.Popen(command, env=own, stdout=subprocess.PIPE, text=True)
    try:
        modes.checker(lab, report, seed)
        modes.races(lab, report, seed, SUBMISSIONS)
        modes.foreign(lab, report, seed)
        modes.undone(lab, report, seed)
        modes.storms(lab, report, seed)
        said = points.communicate(timeout=LIMIT)[0]
    finally:
        points.terminate()
        points.wait()
    _add(report, said, f"--points {POINTS} --seed {seed}")


def _add(report, said, again):
    """What the other one has found."""
    print(said, file=sys.stderr if "failed=0" not in said else sys.stdout, flush=True)
    passed, failed = (int(part.split("=")[1]) for part in said.split("RESULT ")[-1].split()) if "RESULT" in said else (0, 1)
    report.passed("crash points and their runs, on a control plane of their own", passed)
    for _ in range(failed):
        report.failed(again, "see above")
