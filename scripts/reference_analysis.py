"""Compares reports of synthetic datasets with plain arithmetic over their trial files, number by number.

In the datasets, loads fail, are incomplete, lost, late or missing, and queries fail. The plain side
(`python/tests/reference`) shares no SQL and no estimate with resolab. Not for: resampled intervals, or the look of
pictures.
"""

import argparse
import importlib
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1] / "python" / "tests"
SHOWN_COUNT = 20
"""The limit of printed differences per dataset."""


def compare_seed(seed: int) -> tuple[int, str, int, list[str]]:
    """Compare a seed's report with the reference; return the plan's kind, the count of numbers, and the differences."""
    sys.path[:0] = [str(TESTS)]
    compare = importlib.import_module("reference.compared").compare
    kind_of = importlib.import_module("reference.made_up_runs").kind_of
    with tempfile.TemporaryDirectory(prefix="resolab-reference-") as folder:
        count, found = compare(Path(folder) / "dataset", seed)
    return seed, kind_of(seed), count, [str(one) for one in found]


def main() -> int:
    """Compare, and print a line per dataset with differences, and the sum."""
    parser = argparse.ArgumentParser(prog="reference_analysis.py", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200, help="so many made-up datasets (200)")
    parser.add_argument("--first", type=int, default=0, help="the first seed (0)")
    parser.add_argument("--jobs", type=int, default=2, help="datasets at a time (2)")
    options = parser.parse_args()
    numbers = differing = 0
    with ProcessPoolExecutor(options.jobs) as pool:
        for seed, kind, count, found in pool.map(compare_seed, range(options.first, options.first + options.seeds)):
            numbers, differing = numbers + count, differing + len(found)
            if found:
                print(f"seed {seed} ({kind}): {len(found)} of {count} numbers differ", flush=True)
                print("\n".join(f"  {one}" for one in found[:SHOWN_COUNT]), flush=True)
    what = f"reference analysis (slow, plain, no SQL of ours) against report on {options.seeds} made-up datasets"
    print(f"{what}: {numbers} numbers; numbers that differ: {differing}")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
