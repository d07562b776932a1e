"""Numbers of the paper stand beside ours where our loads were made as theirs."""

from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.report.findings.analysis import analyse
from resolab.report.parts.tables import Table
from resolab.store import build_tables, open_dataset
from resolab.studies.s24.paper_comparison import paper_exchange_table, paper_load_table

ONE_PAGE = PLAN_TEXT.replace('["example", "wikipedia"]', '["wikipedia"]').replace('["fiber", "4g"]', '["4g"]')


def tables(folder: Path, factor: str, levels: str) -> tuple[Table, Table]:
    text = ONE_PAGE.replace("blocks = 6", "blocks = 2").replace(
        "[resolver_path]", f"{factor} = {levels}\n[resolver_path]"
    )
    make_dataset(folder, make_plan(text))
    build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
    return paper_load_table(findings), paper_exchange_table(findings)


@pytest.mark.parametrize(
    ("factor", "levels"),
    [
        ("resolver_cache", '["hit", "miss"]'),
        ("resolver_extra_rtt_ms", "[0.0, 240.0]"),
        ("resolver_miss_ratio", "[0.0, 0.25]"),
    ],
)
def test_what_differs_from_their_loads_has_none_of_their_numbers(tmp_path: Path, factor: str, levels: str) -> None:
    loads, exchanges = tables(tmp_path / "d", factor, levels)
    combinations = [row[2] for row in loads.rows]
    assert len(combinations) == 3, combinations  # DoH full, DoQ full, DoQ 0-RTT: each once
    assert not any("miss" in one and "0.25" in one for one in combinations)
    assert len({row[:2] for row in exchanges.rows}) == len(exchanges.rows) == 3


def test_another_level_alone_has_none(tmp_path: Path) -> None:
    loads, exchanges = tables(tmp_path / "d", "resolver_cache", '["miss"]')
    assert (list(loads.rows), list(exchanges.rows)) == ([], [])
