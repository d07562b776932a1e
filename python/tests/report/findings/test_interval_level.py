"""A plan that stops by its intervals has wider ones: every table, figure and sentence says so."""

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
from rich.console import Console
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.report import build_report, terminal_summary
from resolab.report.findings.analysis import analyse
from resolab.report.findings.interval_level import find_level, find_significance, level_text
from resolab.report.sections.reading import Reading
from resolab.stats import LEVEL, STOPPING_LEVEL, Estimate
from resolab.store import build_tables, open_dataset
from resolab.studies.h20 import figures as h20
from resolab.studies.s24 import figures as s24

TEXT = PLAN_TEXT.replace("blocks = 6", "blocks = 12").replace('["example", "wikipedia"]', '["wikipedia"]')
STOPPING = (
    TEXT.replace('["fiber", "4g"]', '["fiber", "default-h20"]')
    + "[stop]\nci_width_ms = 10\n[analysis]\nequivalence_margin_ms = 5\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_dataset(tmp_path_factory.mktemp("levels") / "d", make_plan(STOPPING), Faults(sums=True))
    build_tables(made)
    return made


def estimates(found: object) -> Iterator[Estimate]:
    """Collect the estimates of findings, however deep."""
    if isinstance(found, Estimate):
        yield found
    elif isinstance(found, list | tuple):
        for one in found:
            yield from estimates(one)
    elif hasattr(found, "__dataclass_fields__"):
        for one in fields(found):  # type: ignore[arg-type]
            yield from estimates(getattr(found, one.name))


def test_a_plan_without_a_stopping_rule_has_the_usual_level() -> None:
    assert find_level(make_plan(TEXT)) == LEVEL
    assert find_level(make_plan(STOPPING)) == STOPPING_LEVEL
    assert (level_text(0.95), level_text(0.97), level_text(0.9375)) == ("95 %", "97 %", "93.8 %")


def test_every_estimate_has_the_level(folder: Path) -> None:
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
    found = list(estimates((findings.plt, findings.exchanges, findings.further, list(findings.sums.values()))))
    assert len(found) > 80
    assert {one.level for one in found} == {STOPPING_LEVEL}


def test_the_papers_tables_and_captions_say_it(folder: Path) -> None:
    with open_dataset(folder) as dataset:
        reading = Reading(dataset)
        papers = [one.build(reading) for one in (s24.SECTION, h20.SECTION)]
    drawings = [one for content in papers for one in content.drawings]
    tables = [one for content in papers for one in content.tables]
    captions = {one.name: one.caption for one in drawings}
    assert {"s24_fig3", "s24_fig8_plt_sum", "s24_fig10", "s24_fig12", "h20_fig1", "h20_fig2", "h20_fig4"} <= set(
        captions
    )
    for name, caption in captions.items():
        assert "95 %" not in caption, name
        assert "97 % intervals" in caption or name.startswith("s24_fig9"), name  # single loads have no interval
    levels = {row[column] for one in (*drawings, *tables) for row in one.rows for column in row if "ci_level" in column}
    assert levels - {None} == {STOPPING_LEVEL}
    words = [*(one.note for one in tables), *(column for one in tables for column in one.table.columns)]
    assert not any("95 %" in one for one in words)
    assert any("97 % interval (Wilson)" in one for one in words)


def test_tests_count_at_the_level_of_the_intervals_beside_them(folder: Path) -> None:
    assert (find_significance(make_plan(TEXT)), find_significance(make_plan(STOPPING))) == (0.05, 0.03)
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
    assert {one.tested.significance for one in findings.equivalences} == {0.03}
    text = re.sub(r"\s+", " ", build_report(folder).read_text())
    assert "comparisons are alike at 3 %" in text
    assert "what is told counts at 3 %, as its intervals do, in place of 5 %" in text


def test_the_page_and_the_terminal_say_it(folder: Path) -> None:
    text = re.sub(r"\s+", " ", build_report(folder).read_text())
    assert not re.findall(r".{60}95 % (?:confidence )?intervals?", text)
    assert "Brackets hold 97 % confidence intervals" in text
    assert "interpolated to 97 %" in text
    assert "ours: 97 % interval" in text
    with open_dataset(folder) as dataset:
        findings = analyse(dataset)
    console = Console(width=200)
    with console.capture() as capture:
        console.print(terminal_summary(findings))
    assert "97 % intervals by order statistics, each for itself" in " ".join(capture.get().split())
