"""The table that takes our run as a repeat of the paper's: of its sum only, with both studies' intervals.

For: `studies.s24.replication`. Not for: its statistics (`stats.replication`).
"""

import json
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.report.findings.analysis import analyse
from resolab.report.parts.named_table import NamedTable
from resolab.store import build_tables, open_dataset
from resolab.studies.s24.figures import find_tables
from resolab.studies.s24.study import S24Study

ONE_PAGE = PLAN_TEXT.replace('["example", "wikipedia"]', '["wikipedia"]')


def table_of(folder: Path, blocks: int, faults: Faults) -> NamedTable | None:
    make_dataset(folder, make_plan(ONE_PAGE.replace("blocks = 6", f"blocks = {blocks}")), faults)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        tables = {one.name: one for one in find_tables(S24Study(dataset, analyse(dataset)))}
    return tables.get("s24_replication")


def test_sums_stand_beside_sums_with_both_intervals(tmp_path: Path) -> None:
    table = table_of(tmp_path / "d", 8, Faults(sums=True))
    assert table is not None
    found = {(row["profile"], row["combination"]): row for row in table.rows}
    assert len(found) == 6
    doh = found["4g", "DoH + H3 full"]
    # 22.2 % with quartiles at 20.3 and 23.4 % of 1,276 loads.
    half = 1.959964 * 1.25 / 1.35 * 2**0.5 * 0.031 / 1_276**0.5
    assert doh["paper_ci_high_ratio"] == pytest.approx(0.222 + half, rel=1e-4)
    assert doh["paper_loads_count"] == 1_276
    low, high = (float(str(doh[f"ci_{end}_plt_sum_change_ratio"])) for end in ("low", "high"))
    assert float(str(doh["prediction_low_ratio"])) < low < high < float(str(doh["prediction_high_ratio"]))
    assert doh["same_sign"] == "yes"
    assert doh["loads_count"] == 8


def test_six_blocks_have_no_interval_and_say_so(tmp_path: Path) -> None:
    table = table_of(tmp_path / "d", 6, Faults(sums=True))
    assert table is not None
    assert {row[4] for row in table.table.rows} == {"no interval"}
    assert "6 cells 0 have an interval" in table.note


def test_without_the_papers_sum_nothing_is_compared(tmp_path: Path) -> None:
    assert table_of(tmp_path / "d", 6, Faults()) is None


def test_a_stopped_run_has_the_cells_that_were_loaded(tmp_path: Path) -> None:
    """Of a condition there is no load yet."""
    folder = tmp_path / "d"
    make_dataset(folder, make_plan(ONE_PAGE.replace("blocks = 6", "blocks = 8")), Faults(sums=True))
    for file in (folder / "trials").iterdir():
        head = json.loads(file.read_text("utf-8").splitlines()[0])
        if (head["profile"], head["dns_transport"], head["requested_handshake_mode"]) == ("fiber", "doq", "full"):
            file.unlink()
    build_tables(folder)
    with open_dataset(folder) as dataset:
        tables = {one.name: one for one in find_tables(S24Study(dataset, analyse(dataset)))}
    found = {(row["profile"], row["combination"]) for row in tables["s24_replication"].rows}
    assert ("4g", "DoQ + H3 full") in found
    assert ("fiber", "DoQ + H3 full") not in found
