"""The steps of tests/run, in order. Each adds to a result; its first comment line is its title."""

import os
import shutil
import tempfile

from runner import counts
from runner.shell import ROOT

BUILDS = {"release": ROOT / "build", "asan": ROOT / "build" / "asan", "tsan": ROOT / "build" / "tsan"}
# Sanitizer runtimes of this compiler cannot place their shadow where Linux randomizes much.
FIXED_ADDRESSES = ["/usr/bin/setarch", "-R"]
SANITIZERS = {
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1:check_initialization_order=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    # gRPC and abseil come from Debian uninstrumented: what they guard with their own locks would look racy.
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:history_size=4:ignore_noninstrumented_modules=1",
}
PARALLEL_TESTS = 4
# Programs that mostly wait run side by side, each on a control plane or cluster of its own.
OPERATOR_SHARDS = [
    ["test_server_own_plane", "test_leader", "test_pools"],
    ["test_workers", "test_nodes", "test_event_flood", "test_tenants", "test_tenants_nodes", "test_bad_jobs",
     "test_log_limits", "test_permissions"],
    ["test_leases", "test_program", "test_queue", "test_server", "test_server_absence"],
    ["test_refusals", "test_forgers", "test_clock", "test_sharing", "test_sharing_pools"]]
E2E_SHARDS = [["test_gangs", "test_forgotten_ends"], ["test_nodes"], ["test_examples", "test_lifecycle"],
              ["test_slices", "test_device_plugin"]]


def release(result, shell, _control_plane):
    """build everything"""
    _build(result, shell, "release", ["all"])


def format_check(result, shell, _control_plane):
    """C++ files are formatted"""
    _static_check(result, shell, "format", ".ci/format", "--check")


def layers(result, shell, _control_plane):
    """includes follow the layering, files stay small"""
    _static_check(result, shell, "layers", ".ci/check-layers")


def tidy(result, shell, _control_plane):
    """clang-tidy finds nothing"""
    if _build(result, shell, "release", ["all"], count=False):
        done = shell.run("tidy", ROOT / ".ci/tidy", show=True, limit=3600)
        result.check("tidy", done.code == 0)


def unit(result, shell, _control_plane):
    """unit and launcher tests"""
    if _build(result, shell, "release", ["all"], count=False):
        _ctest(result, shell, "release", "unit|launcher")


def integration(result, shell, control_plane):
    """tests against a real API server"""
    if _build(result, shell, "release", ["all"], count=False):
        _ctest(result, shell, "release", "integration", control_plane.variables())


def crds(result, shell, control_plane):
    """the definitions on a real API server"""
    done = shell.run("crds", ROOT / "tests/crds/test_crds.py", "-v", env=control_plane.variables(), show=True)
    counts.add_program(result, "crds", done)


def deploy(result, shell, control_plane):
    """chart and manifests: what they say, and what they allow"""
    if _build(result, shell, "release", ["all"], count=False):  # flags in the chart are compared with the programs
        done = shell.run("deploy", ROOT / "tests/deploy/run", env=control_plane.variables(), show=True)
        counts.add_program(result, "deploy", done)


def health(result, shell, _control_plane):
    """what Argo CD and Flux say about jobs and pools"""
    if _build(result, shell, "release", ["all"], count=False):
        # On a cluster of its own: rights that other steps have installed would stand in for those that it takes away.
        counts.add_program(result, "health", shell.run("health", ROOT / "tests/health/run", show=True))


def preflight(result, shell, _control_plane):
    """gpupool-preflight on made-up machines, and its package"""
    if _build(result, shell, "release", ["all"], count=False):
        counts.add_program(result, "preflight", shell.run("preflight", ROOT / "tests/preflight/run", show=True))


def images(result, shell, _control_plane):
    """the container images"""
    if _build(result, shell, "release", ["all"], count=False):
        counts.add_program(result, "images", shell.run("images", ROOT / "tests/images/run", show=True))


def install(result, shell, _control_plane):
    """the chart on a cluster with nodes: installed, used, upgraded, removed"""
    if _build(result, shell, "release", ["all"], count=False):
        counts.add_program(result, "install", shell.run("install", ROOT / "tests/install/run", show=True))


def operator(result, shell, _control_plane):
    """the operator on a real API server, with kubelets played by the tests"""
    _sharded(result, shell, "operator", "tests/integration/operator", OPERATOR_SHARDS)


def e2e(result, shell, _control_plane):
    """the operator on clusters with nodes"""
    _sharded(result, shell, "e2e", "tests/e2e", E2E_SHARDS)


def faults(result, shell, control_plane):
    """the operator dies at any call, on a network that fails"""
    if _build(result, shell, "release", ["all"], count=False):
        done = shell.run("faults", ROOT / "tests/faults/run", env=control_plane.variables(), show=True)
        counts.add_program(result, "faults", done)


def bench(result, shell, _control_plane):
    """the benchmarks run, and what they count has not grown"""
    if _build(result, shell, "release", ["all", "bench"], count=False):
        done = shell.run("bench", ROOT / "bench/run", "--smoke", show=True)
        result.check("bench/run --smoke", done.code == 0, done.tail())


def demo(result, shell, _control_plane):
    """`make demo` where nothing has been built"""
    # A folder of its own: what another step leaves in build/ has hidden before that demo did not build it.
    folder = tempfile.mkdtemp(prefix="gpupool-demo-")
    try:
        for name in shell.run("demo-files", "git", "ls-files", "-z", "-co", "--exclude-standard").output.split("\0"):
            if (ROOT / name).is_symlink() or (ROOT / name).is_file():
                os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
                shutil.copy(ROOT / name, os.path.join(folder, name), follow_symlinks=False)
        done = shell.run("demo", "make", "-C", folder, "demo", show=True)
        result.check("make demo", done.code == 0, done.tail())
    finally:
        shutil.rmtree(folder)


def asan(result, shell, control_plane):
    """unit, launcher and integration tests with AddressSanitizer and UBSan"""
    _sanitized(result, shell, "asan", control_plane)


def tsan(result, shell, control_plane):
    """the same with ThreadSanitizer"""
    _sanitized(result, shell, "tsan", control_plane)


def cluster(result, shell, _control_plane):
    """the cluster that tests use keeps its promises"""
    counts.add_program(result, "cluster", shell.run("cluster", ROOT / "tests/cluster/selftest", show=True))


STEPS = {"build": release, "format": format_check, "layers": layers, "tidy": tidy, "unit": unit,
         "integration": integration, "crds": crds, "deploy": deploy, "health": health, "operator": operator,
         "faults": faults, "bench": bench, "e2e": e2e, "preflight": preflight, "images": images, "install": install,
         "demo": demo, "asan": asan, "tsan": tsan, "cluster": cluster}


def _static_check(result, shell, name, *command):
    done = shell.run(name, *command)
    result.check(name, done.code == 0, done.tail())


def _build(result, shell, preset, targets, count=True, prefix=()):
    """True if it was built. As a step of its own it counts as one check."""
    for name, command in (("configure", ["cmake", "--preset", preset]),
                          ("build", ["cmake", "--build", "--preset", preset, "--target", *targets])):
        done = shell.run(f"{preset}-{name}", *prefix, *command, limit=2 * 3600)
        if done.code != 0:
            result.fail(f"{name} {preset}", done.tail())
            return False
    if count:
        result.passed += 1
    return True


def _ctest(result, shell, preset, label, env=None, prefix=()):
    junit = BUILDS[preset] / f"junit-{label.replace('|', '-')}.xml"
    junit.unlink(missing_ok=True)
    done = shell.run(f"{preset}-{label.replace('|', '-')}", *prefix, "ctest", "--test-dir", BUILDS[preset], "-L", label,
                     "-j", PARALLEL_TESTS, "--no-tests=error", "--output-on-failure", "--output-junit", junit,
                     env={**SANITIZERS, **(env or {})})
    if not junit.exists():
        result.fail(f"ctest {preset} {label}", done.tail())
        return
    before = len(result.failures)
    counts.add_ctest(result, junit)
    if done.code != 0 and len(result.failures) == before:
        result.fail(f"ctest {preset} {label}: exit code {done.code}", done.tail())


def _sanitized(result, shell, preset, control_plane):
    prefix = FIXED_ADDRESSES if _allowed(shell, FIXED_ADDRESSES) else []
    # The folder's target is all tests with what they need; the launcher is a program that tests start.
    if not _build(result, shell, preset, ["tests/all", "gpupool-launch"], count=False, prefix=prefix):
        return
    _ctest(result, shell, preset, "unit|launcher", prefix=prefix)
    _ctest(result, shell, preset, "integration", control_plane.variables(), prefix=prefix)


def _sharded(result, shell, step, folder, shards):
    modules = {path.stem for path in (ROOT / folder).glob("test_*.py")}
    result.check(f"every module of {folder} runs", modules == {name for shard in shards for name in shard})
    if _build(result, shell, "release", ["all"], count=False):
        programs = {f"{step}-{number}": (ROOT / folder / "run", *(f"{module}." for module in shard))
                    for number, shard in enumerate(shards, 1)}
        for done in shell.run_together(programs, show=True):
            counts.add_program(result, step, done)


def _allowed(shell, prefix):
    """A container may forbid changing the personality."""
    return os.access(prefix[0], os.X_OK) and shell.run("setarch", *prefix, "/usr/bin/true").code == 0
