# SPDX-License-Identifier: Apache-2.0
"""Compares csv-ingest with pandas. Usage: tests/data/test_csv.py [FILES]

Makes 200 files with a fixed seed, lets csv-ingest clean each by rules made up for it, and does the same with pandas.
What no rule changes must be there byte for byte; what is computed may differ by 1e-12 of its size. Needs pandas and
the built program csv-ingest ($BUILD_DIR/bin, or build/bin).
"""

import json
import random
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[0] = str(next(p for p in Path(__file__).resolve().parents if (p / "CMakePresets.json").exists()))

from tests.data.csv_files import CsvFile, make_file  # noqa: E402
from tests.data.pandas_ingestion import compare, pandas_result  # noqa: E402
from tests.kit.paths import program  # noqa: E402

FILES = 200
SEED = 20240229


def difference(file: CsvFile, folder: Path) -> str:
    """What csv-ingest and pandas do not agree on; empty: nothing."""
    source, target = folder / f"{file.number}.csv", folder / f"{file.number}.clean.csv"
    source.write_bytes(file.content)
    done = subprocess.run([program("csv-ingest"), f"--spec={json.dumps({'from': source.name, **file.rules})}", f"--root={folder}",
                           f"--to={target.name}"], capture_output=True, text=True, timeout=60, check=False)
    expected = pandas_result(file)
    if isinstance(expected, str) or done.returncode != 0:
        wanted = expected if isinstance(expected, str) else ""
        return "" if wanted and wanted in done.stderr else f"exit {done.returncode}: {done.stderr!r}, wanted {wanted!r}"
    report = json.loads(Path(f"{target}.report.json").read_text(encoding="utf-8"))
    return compare(file, expected, target.read_bytes(), report)


class PandasTest(unittest.TestCase):
    count = FILES

    def test_same_as_pandas(self) -> None:
        randomness = random.Random(SEED)
        files = [make_file(number, randomness) for number in range(self.count)]
        with tempfile.TemporaryDirectory(prefix="gpupool-csv-") as folder, ThreadPoolExecutor(2) as pool:
            found = list(pool.map(lambda file: difference(file, Path(folder)), files))
        for file, text in zip(files, found):
            with self.subTest(file=file.number, rules=json.dumps(file.rules)):
                self.assertEqual("", text, file.content[:2000])


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        PandasTest.count = int(sys.argv.pop(1))
    unittest.main()
