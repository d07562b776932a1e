"""What adjusting saves, of a run and of a published dataset."""

from pathlib import Path

from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

import what_adjusting_saves as script
from resolab.basics.installation import project_root
from resolab.plan import ComparisonKind
from resolab.store import build_tables

KINDS = (ComparisonKind.PLANNED, ComparisonKind.ALL)


def test_a_run_has_a_row_a_comparison_and_a_summary(tmp_path: Path, capsys):
    make_dataset(tmp_path / "d", make_plan(PLAN_TEXT.replace("blocks = 6", "blocks = 8")))
    build_tables(tmp_path / "d")
    found = script.adjusted_of(tmp_path / "d", KINDS)
    script.print_rows(found)
    script.print_summary(found, copies=False)
    printed = capsys.readouterr().out
    assert printed.count("| after_first_byte |") == len(found) / 2 + 3
    assert "| after_first_byte | all | 20 |" in printed


def test_published_tables_tell_the_first_byte_and_the_last_of_the_only_request(capsys):
    found = script.adjusted_of(project_root() / "docs" / "results" / "aa", (ComparisonKind.AA,))
    first = [one for one in found if one.part.name == "after_first_byte"]
    last = [one for one in found if one.part.name == "after_last_byte"]
    assert len(first) >= len(last) > 0
    assert all(one.variance_ratio is not None for one in first if one.plain_ms.censored_count == 0 and not one.refused)
    script.print_summary(found, copies=True)
    assert "copies, after_first_byte: of " in capsys.readouterr().out
