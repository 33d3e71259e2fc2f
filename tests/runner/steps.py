# SPDX-License-Identifier: Apache-2.0
"""The steps of tests/run, in order. Each adds to a result; its first comment line is its title."""

import dataclasses
import json
import os
import shutil
import tempfile
from typing import Any, Callable, Sequence

from tests.e2e import pools
from tests.kit.paths import LOGS, ROOT
from tests.kit.unittests import TIMES_FILE, find_tests, short_id
from tests.runner import builds, counts, shards
from tests.runner.control_plane import ControlPlane
from tests.runner.shell import Shell
from tests.runner.step_report import Result

# Sanitizer runtimes of this compiler cannot place their shadow where Linux randomizes much.
FIXED_ADDRESSES = ["/usr/bin/setarch", "-R"]
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    # gRPC and abseil come from Debian uninstrumented: what they guard with their own locks would look racy.
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:history_size=4:ignore_noninstrumented_modules=1",
}
PARALLEL_TESTS = 4
SHARD_LIMIT = 2700  # seconds, only for hangs: the longest takes 15 minutes, and twice as long on a slow machine


@dataclasses.dataclass
class Run:
    """One step while it runs."""
    result: Result
    shell: Shell
    control_plane: ControlPlane  # for all steps that can share one
    record_times: bool  # of the tests of steps in shards


def release(run: Run) -> None:
    """build everything, the benchmarks too: no step that measures or waits compiles beside others"""
    _build(run, "release", ["all", "bench"])


def format_check(run: Run) -> None:
    """C++ files are formatted"""
    _static_check(run, "format", ".ci/format", "--check")


def layers(run: Run) -> None:
    """includes follow the layering, files stay small, the Python files agree on types"""
    _static_check(run, "layers", ".ci/check-layers")
    _static_check(run, "licences", ".ci/spdx", "--check")
    _static_check(run, "vendored", ".ci/check-vendored")
    _static_check(run, "types", "/usr/bin/mypy", "--config-file", ".ci/mypy.ini")
    done = run.shell.run("runner", "/usr/bin/python3", "-m", "unittest", "discover", "-v", "-s", "tests/runner", "-t", ".")
    counts.add_program(run.result, "runner", done)


def tidy(run: Run) -> None:
    """clang-tidy finds nothing"""
    if _build(run, "release", ["all"], count=False):
        done = run.shell.run("tidy", ROOT / ".ci/tidy", show=True, limit=3600)
        run.result.check("tidy", done.code == 0)


def unit(run: Run) -> None:
    """unit and launcher tests; those of the books also on PostgreSQL"""
    if _build(run, "release", ["all"], count=False):
        _ctest(run, "release", "unit|launcher")
        _program(run, "books", "tests/ledger/run")


def integration(run: Run) -> None:
    """tests against a real API server"""
    if _build(run, "release", ["all"], count=False):
        _ctest(run, "release", "integration", run.control_plane.variables())


def crds(run: Run) -> None:
    """the definitions on a real API server"""
    _program(run, "crds", "tests/crds/test_crds.py", "-v", env=run.control_plane.variables())


def deploy(run: Run) -> None:
    """chart and manifests: what they say, and what they allow"""
    if _build(run, "release", ["all"], count=False):  # flags in the chart are compared with the programs
        _program(run, "deploy", "tests/deploy/run", env=run.control_plane.variables())


def health(run: Run) -> None:
    """what Argo CD and Flux say about jobs and pools"""
    if _build(run, "release", ["all"], count=False):
        # On a cluster of its own: rights that other steps have installed would stand in for those that it takes away.
        _program(run, "health", "tests/health/run")


def operator(run: Run) -> None:
    """the operator on a real API server, with kubelets played by the tests"""
    _sharded(run, "operator", "tests/integration/operator", 6, whole_modules=["test_server_own_plane"])


def faults(run: Run) -> None:
    """the operator dies at any call, on a network that fails"""
    if _build(run, "release", ["all"], count=False):
        _program(run, "faults", "tests/faults/run", env=run.control_plane.variables())


def bench(run: Run) -> None:
    """the benchmarks run, and what they count has not grown"""
    if _build(run, "release", ["all", "bench"], count=False):
        done = run.shell.run("bench", ROOT / "bench/run", "--smoke", show=True)
        reason = done.tail(1)  # its last line; the end of the report is often all that is kept
        run.result.check(f"bench/run --smoke: {reason}", done.code == 0, done.tail())


def e2e(run: Run) -> None:
    """the operator on clusters with nodes"""
    _sharded(run, "e2e", "tests/e2e", len(pools.SHARDS), pools.shards_for)


def preflight(run: Run) -> None:
    """gpupool-preflight on made-up machines, and its package"""
    if _build(run, "release", ["all"], count=False):
        _program(run, "preflight", "tests/preflight/run")


def limiter(run: Run) -> None:
    """the limiter's libraries in front of stand-ins for the driver"""
    if _build(run, "release", ["all"], count=False):
        _program(run, "limiter", "tests/limiter/run")


def images(run: Run) -> None:
    """the container images"""
    if _build(run, "release", ["all"], count=False):
        _program(run, "images", "tests/images/run")


def data(run: Run) -> None:
    """gpupool-carry with servers of S3 and git, and pandas beside it"""
    if _build(run, "release", ["all"], count=False):
        _program(run, "data", "tests/data/run")


def page(run: Run) -> None:
    """the page in a real browser, and attacks on its server"""
    if _build(run, "release", ["all"], count=False):
        _program(run, "page", "tests/page/run", env=run.control_plane.variables())


def keeper(run: Run) -> None:
    """the keeper of logs, with launchers that push and readers that read"""
    if _build(run, "release", ["all"], count=False):
        _program(run, "keeper", "tests/keeper/run", env=run.control_plane.variables())


def install(run: Run) -> None:
    """the chart on a cluster with nodes: installed, used, upgraded, removed"""
    if _build(run, "release", ["all"], count=False):
        _program(run, "install", "tests/install/run")


def demo(run: Run) -> None:
    """`make demo` where nothing has been built"""
    # A folder of its own: what another step leaves in build/ has hidden before that demo did not build it.
    folder = tempfile.mkdtemp(prefix="gpupool-demo-")
    try:
        for name in run.shell.run("demo-files", "git", "ls-files", "-z", "-co", "--exclude-standard").output.split("\0"):
            if (ROOT / name).is_symlink() or (ROOT / name).is_file():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                shutil.copy(ROOT / name, os.path.join(folder, name), follow_symlinks=False)
        done = run.shell.run("demo", "make", "-C", folder, "demo", show=True)
        run.result.check("make demo", done.code == 0, done.tail())
    finally:
        shutil.rmtree(folder)


def asan(run: Run) -> None:
    """unit, launcher and integration tests with AddressSanitizer and UBSan"""
    _sanitized(run, "asan")


def tsan(run: Run) -> None:
    """the same with ThreadSanitizer"""
    _sanitized(run, "tsan")


def cluster(run: Run) -> None:
    """the cluster that tests use keeps its promises"""
    _program(run, "cluster", "tests/cluster/selftest")


STEPS: dict[str, Callable[[Run], None]] = {
    "build": release, "format": format_check, "layers": layers, "tidy": tidy, "unit": unit,
    "integration": integration, "crds": crds, "deploy": deploy, "health": health, "operator": operator,
    "faults": faults, "bench": bench, "e2e": e2e, "preflight": preflight, "limiter": limiter, "page": page, "keeper": keeper, "images": images, "data": data,
    "install": install,
    "demo": demo, "asan": asan, "tsan": tsan, "cluster": cluster}


def _static_check(run: Run, name: str, *command: str) -> None:
    done = run.shell.run(name, *command)
    run.result.check(name, done.code == 0, done.tail())


def _program(run: Run, name: str, path: str, *arguments: str, env: dict[str, str] | None = None) -> None:
    """A program of the tests that says how many checks passed."""
    counts.add_program(run.result, name, run.shell.run(name, ROOT / path, *arguments, env=env, show=True))


def _build(run: Run, preset: str, targets: Sequence[str], count: bool = True, prefix: Sequence[str] = ()) -> bool:
    """True if it was built. As a step of its own it counts as one check."""
    for name, done in builds.build(run.shell, preset, targets, prefix):
        if done.code != 0:
            run.result.fail(f"{name} {preset}", done.tail())
            return False
    if count:
        run.result.passed += 1
    return True


def _ctest(run: Run, preset: str, label: str, env: dict[str, str] | None = None, prefix: Sequence[str] = ()) -> None:
    junit = builds.FOLDERS[preset] / f"junit-{label.replace('|', '-')}.xml"
    junit.unlink(missing_ok=True)
    gtest = builds.FOLDERS[preset] / "gtest"
    shutil.rmtree(gtest, ignore_errors=True)
    done = run.shell.run(f"{preset}-{label.replace('|', '-')}", *prefix, "ctest", "--test-dir", builds.FOLDERS[preset], "-L",
                         label, "-j", PARALLEL_TESTS, "--no-tests=error", "--output-on-failure", "--output-junit", junit,
                         env={**SANITIZERS, **(env or {})})
    if not junit.exists():
        run.result.fail(f"ctest {preset} {label}", done.tail())
        return
    before = len(run.result.failures)
    counts.add_ctest(run.result, junit, gtest)
    if done.code != 0 and len(run.result.failures) == before:
        run.result.fail(f"ctest {preset} {label}: exit code {done.code}", done.tail())


def _sanitized(run: Run, preset: str) -> None:
    prefix = fixed_addresses(run.shell)
    if not _build(run, preset, builds.SANITIZED, count=False, prefix=prefix):
        return
    _ctest(run, preset, "unit|launcher", prefix=prefix)
    _ctest(run, preset, "integration", run.control_plane.variables(), prefix=prefix)


def _sharded(run: Run, step: str, folder: str, count: int, allowed: Callable[[str], Any] | None = None,
             whole_modules: Sequence[str] = ()) -> None:
    """The tests of a folder in programs side by side, each on a control plane or cluster of its own: they mostly wait.

    A class is never divided, nor is one of these modules."""
    if not _build(run, "release", ["all"], count=False):
        return

    def group_of(test: str) -> str:
        module, name, _ = test.split(".")
        return module if module in whole_modules else f"{module}.{name}"

    found, errors = find_tests(ROOT / folder)
    for error in errors:
        run.result.fail(f"{step}: a module cannot be loaded", error)
    if errors:
        return
    tests = [short_id(ROOT / folder, test) for test in found]
    packed = shards.pack(shards.group_seconds(tests, group_of, shards.read_times(step)), count, allowed)
    programs, times, env = {}, {}, {}
    for number, groups in enumerate(packed, 1):
        log = f"{step}-{number}"
        programs[log] = (ROOT / folder / "run", *(f"{group}.*" for group in groups))
        env[log] = {TIMES_FILE: str(LOGS / f"{log}.times.json")}
    for log, done in run.shell.run_together(programs, env=env, limit=SHARD_LIMIT, show=True).items():
        counts.add_program(run.result, step, done)
        with open(env[log][TIMES_FILE], encoding="utf-8") as source:
            times.update(json.load(source))
    run.result.check(f"every test of {folder} runs", sorted(times) == sorted(tests))
    if run.record_times and not run.result.failures:
        shards.write_times(step, times)


def fixed_addresses(shell: Shell) -> Sequence[str]:
    """The prefix of sanitized programs. A container may forbid changing the personality."""
    allowed = os.access(FIXED_ADDRESSES[0], os.X_OK) and shell.run("setarch", *FIXED_ADDRESSES, "/usr/bin/true").code == 0
    return FIXED_ADDRESSES if allowed else ()
