"""The figure of what look-ups cost by how many names a page has: of pages alike but for that, and of no others."""

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.report.findings.analysis import analyse
from resolab.report.findings.findings import Findings
from resolab.report.parts.name_counts import names_drawing
from resolab.store import build_tables, open_dataset
from resolab.store.connections.loads import LoadConnectionsRow

ALIKE = make_plan(PLAN_TEXT.replace('page = ["example", "wikipedia"]', 'page = ["flat-4", "example", "flat-12"]'))


def load(condition: str, names_count: int) -> LoadConnectionsRow:
    numbers = dict.fromkeys(
        (one for one in LoadConnectionsRow.__struct_fields__ if one not in {"trial_id", "condition"}), 0
    )
    told = {"trial_id": "b", "condition": condition, "names_count": names_count}
    return LoadConnectionsRow(**numbers | told)  # type: ignore[arg-type]


def found(folder: Path, counts: dict[str, int]) -> Findings:
    make_dataset(folder, ALIKE)
    build_tables(folder)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
    loads = [load(one.id, counts[one.page]) for one in findings.plan.conditions()]
    # A load that failed half-way asked for fewer.
    return replace(findings, load_connections=[*loads, *(load(one.condition, 1) for one in loads)])


def test_pages_alike_but_for_their_names_make_a_panel_for_each_profile(tmp_path: Path) -> None:
    drawing = names_drawing(found(tmp_path / "d", {"flat-4": 4, "example": 1, "flat-12": 12}))
    assert drawing is not None
    assert drawing.name == "plt_by_names"
    rows = [row for row in drawing.rows if row["combination"] == "DoQ + H3 full"]
    assert [(row["place"], row["names_count"], row["pairs_count"]) for row in rows] == [
        ("flat, fiber", 4, 6), ("flat, 4g", 4, 6), ("flat, fiber", 12, 6), ("flat, 4g", 12, 6),
    ]  # fmt: skip
    # DoQ takes a round trip more than DoUDP, which the closed form says, too.
    over_4g = next(row for row in rows if row["place"] == "flat, 4g")
    assert over_4g["paired_difference_ms"] == pytest.approx(91.85, abs=5)
    assert over_4g["closed_form_ms"] == pytest.approx(91.85, abs=1)
    assert "by the names a page has" in drawing.caption


def test_there_is_none_of_pages_with_as_many_names(tmp_path: Path) -> None:
    assert names_drawing(found(tmp_path / "d", {"flat-4": 4, "example": 1, "flat-12": 4})) is None
