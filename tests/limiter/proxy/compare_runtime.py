# SPDX-License-Identifier: Apache-2.0
"""S6: what functions of a CUDA runtime return over a driver without a GPU is the same with and without the limiter."""

import shutil
from pathlib import Path

from tests.limiter.container import Container, libraries, scratch
from tests.limiter.proxy.compare_driver import Comparison, Library
from tests.limiter.proxy.driver_case import REPLAYED

CALLER = Path(__file__).with_name("call_runtime.py")


def runtimes_in(folder: Path) -> list[Path]:
    """Each file once, whatever links to it."""
    return sorted({path.resolve() for path in folder.glob("libcudart.so.*") if path.exists()})


def results(runtime: Path, driver: Path, preload: list[str]) -> list[str]:
    """One line for each function. The driver is found by its usual name in a folder of its own."""
    folder = scratch()
    try:
        (folder / REPLAYED).symlink_to(driver)
        return Container(preload=preload).output(str(CALLER), str(runtime), env={"LD_LIBRARY_PATH": str(folder)}).splitlines()
    finally:
        shutil.rmtree(folder)


def compare(runtime: Path, library: Library) -> Comparison:
    comparison = Comparison()
    try:
        direct = results(runtime, library.path, [])
        limited = results(runtime, library.path, libraries())
    except AssertionError as error:
        comparison.differences.append(f"cannot be called: {str(error).strip()}")
        return comparison
    comparison.functions = sum(not line.endswith(" -") for line in direct)
    comparison.tell(True, "results that are others with the limiter",
                    [f"{plain} (with it {through.split(maxsplit=1)[1]})" for plain, through in zip(direct, limited) if plain != through])
    if len(direct) != len(limited):
        comparison.differences.append(f"{len(direct)} results, but {len(limited)} with the limiter")
    return comparison
