"""Every number of a report is the one that plain arithmetic over the trials' files gives.

For: a handful of seeds; `scripts/reference_analysis.py` takes two hundred. Not for: the arithmetic (`reference`).
"""

from pathlib import Path

import pytest
from reference.compared import Difference, compare, differences
from reference.made_up_runs import KINDS, PAGES, kind_of, make_run

from resolab.basics.errors import ConfigurationError
from resolab.store import build_tables, open_dataset

SEEDS = {kind: seed for seed, kind in enumerate(KINDS)}


@pytest.mark.parametrize("seed", [seed for kind, seed in SEEDS.items() if kind != PAGES])
def test_reports_say_what_plain_arithmetic_says(tmp_path: Path, seed: int) -> None:
    count, found = compare(tmp_path / "d", seed)
    assert count > 1_000
    assert not found, f"{len(found)} of {count} numbers differ, the first: {found[0]}"


def test_rounds_of_pages_are_paired_before_they_are_averaged(tmp_path: Path) -> None:
    assert kind_of(SEEDS[PAGES]) == PAGES
    _, found = compare(tmp_path / "d", SEEDS[PAGES])
    assert not found


def test_a_doubled_trial_is_refused(tmp_path: Path) -> None:
    make_run(tmp_path / "d", SEEDS[PAGES])
    first = min((tmp_path / "d" / "trials").rglob("*.jsonl"))
    again = first.with_name(first.name.replace("t000", "t999"))
    again.write_text(first.read_text().replace(first.stem, again.stem))
    build_tables(tmp_path / "d")
    with pytest.raises(ConfigurationError, match="is not the only one of its condition in block"):
        open_dataset(tmp_path / "d")


def test_what_one_side_lacks_differs() -> None:
    found = differences({("a", "n"): 1, ("b", "n"): 2.0}, {("b", "n"): 2.0000000001, ("c", "n"): None})
    assert found == [Difference(("a", "n"), 1, "nothing"), Difference(("c", "n"), "nothing", None)]
