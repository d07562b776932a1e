"""One listed section, and one folder of a study, are all it takes to be in the page with files."""

import csv
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pytest
from synthetic_dataset import Faults, make_dataset

from resolab import studies
from resolab.report import build_report
from resolab.report.pages import template
from resolab.report.parts.named_table import NamedTable
from resolab.report.parts.tables import Table
from resolab.report.sections import order
from resolab.report.sections.reading import Reading
from resolab.report.sections.section import Folded, Paragraph, Section, SectionContent, Tone
from resolab.store import build_tables, open_dataset

STUDY = """
from resolab.report.sections.section import Paragraph, Section, SectionContent

SECTIONS = (
    Section(
        id="aardvark",
        title="A study of aardvarks",
        link="Aardvarks",
        follows="dns",
        build=lambda reading: SectionContent([Paragraph(f"{reading.findings.trials_count} aardvarks.")]),
    ),
)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_dataset(tmp_path_factory.mktemp("sections") / "d", faults=Faults(trials_count=2))


@pytest.fixture(autouse=True)
def study_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder in place of the studies' own."""
    folders, before = tmp_path / "studies", set(sys.modules)
    folders.mkdir()
    monkeypatch.setattr(studies, "__path__", [str(folders)])
    yield folders
    for name in set(sys.modules) - before:
        if name.startswith("resolab.studies."):
            del sys.modules[name]


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


def test_a_folder_of_a_study_is_in_the_page_behind_the_section_it_follows(folder: Path, study_folders: Path) -> None:
    (study_folders / "aardvark").mkdir()
    (study_folders / "aardvark" / "__init__.py").touch()
    (study_folders / "aardvark" / "sections.py").write_text(STUDY)
    page = build_report(folder).read_text("utf-8")
    places = re.findall(r'<section id="([^"]*)">', page)
    assert places.index("aardvark") == places.index("dns") + 1
    assert "<p>2 aardvarks.</p>" in page
    assert '<a href="#aardvark">Aardvarks</a>' in page


def test_a_study_s_section_that_follows_nothing_is_an_error(study_folders: Path) -> None:
    (study_folders / "aardvark").mkdir()
    (study_folders / "aardvark" / "__init__.py").touch()
    (study_folders / "aardvark" / "sections.py").write_text(STUDY.replace('"dns"', '"anteater"'))
    with pytest.raises(LookupError, match="aardvark after 'anteater'"):
        order.list_sections()


def test_the_studies_of_the_project_are_found_and_every_id_is_one_section_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "__path__", [str(Path(studies.__file__).parent)])
    names = [one.id for one in order.list_sections()]
    assert len(names) == len(set(names))
    assert names[names.index("outcomes") :][:6] == ["outcomes", "plt-sum", "paper", "paths", "h20", "live"]


def test_figures_of_papers_are_of_page_loads_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(studies, "__path__", [str(Path(studies.__file__).parent)])
    papers = [one for one in studies.find_sections() if one.id in {"h20", "s24"}]
    assert [one.applies(Mock(is_live=False, has_page_loads=False)) for one in papers] == [False, False]


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
