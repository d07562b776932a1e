"""One listed section is all it takes to be in the page with files."""

import csv
import re
from pathlib import Path

import pytest
from synthetic_dataset import Faults, make_dataset

from resolab.report import build_report
from resolab.report.pages import template
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.sections import order
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Folded, Paragraph, Section, SectionContent, Tone
from resolab.store import build_tables, open_dataset


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("sections") / "d", faults=Faults(trials_count=2))


@pytest.fixture(autouse=True)
def without_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "_STUDIES", ())


def numbers(name: str, reading: Reading) -> NamedTable:
    rows = [{"trials_count": reading.findings.trials_count}]
    return NamedTable(name, "Made up", Table(("trials",), (("2",),)), rows, "Counted.")


def add(monkeypatch: pytest.MonkeyPatch, section: Section) -> None:
    monkeypatch.setattr(order, "SECTIONS", (*order.SECTIONS, section))


def test_a_listed_section_is_in_the_page_with_its_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(reading: Reading) -> SectionContent:
        inner = Folded("More", [numbers("dummy_numbers", reading)])
        return SectionContent([Paragraph("A <dummy>.", Tone.BAD), inner], title="Two trials", is_open=True)

    add(monkeypatch, Section(id="dummy", title="A dummy", link="Dummy", build=build))
    report = build_report(folder)
    page = report.read_text("utf-8")
    assert re.search(r'<details open>\n<summary>Two trials</summary>\n<section id="dummy">', page)
    assert '<p class="bad">A &lt;dummy&gt;.</p>' in page
    assert '<p class="note">Counted. File: <code>figures/dummy_numbers.csv</code>.</p>' in page
    assert '<a href="#dummy">Dummy</a></nav>' in page
    with (report.parent / "figures" / "dummy_numbers.csv").open() as file:
        assert list(csv.DictReader(file)) == [{"trials_count": "2"}]


def test_a_section_without_blocks_has_files_and_no_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add(
        monkeypatch,
        Section(
            id="dummy",
            title="A dummy",
            link="Dummy",
            build=lambda reading: SectionContent([], files=[numbers("unseen", reading)]),
        ),
    )
    report = build_report(folder)
    assert "dummy" not in report.read_text("utf-8")
    assert (report.parent / "figures" / "unseen.csv").is_file()


def test_a_section_that_does_not_apply_is_not_built(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_reading: Reading) -> SectionContent:
        pytest.fail("built")

    add(monkeypatch, Section(id="dummy", title="A dummy", build=build, applies=lambda reading: reading.is_live))
    assert "dummy" not in build_report(folder).read_text("utf-8")


def test_no_template_names_a_section() -> None:
    folder = Path(template.__file__).parent / "templates"
    text = (folder / "report.html.j2").read_text() + (folder / "blocks.html.j2").read_text()
    assert [one.id for one in order.SECTIONS if f'"{one.id}"' in text or f"#{one.id}" in text] == []


def test_a_result_is_computed_once_for_all_sections(folder: Path) -> None:
    asked: list[Reading] = []

    def count(reading: Reading) -> int:
        asked.append(reading)
        return len(asked)

    build_tables(folder)
    with open_dataset(folder) as dataset:
        reading = Reading(dataset)
        found = [reading.once(count) for _ in range(2)]
    assert found == [1, 1]
