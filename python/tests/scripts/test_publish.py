"""`scripts/publish`: a dataset becomes a folder with the same report, or nothing is published."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from publishing import __main__ as script
from publishing.page import without_figures
from resolab.report import make_report
from resolab.report.plots import Drawing
from resolab.report.plots.save import write_csv

SMALL = PLAN_TEXT.replace("blocks = 6", "blocks = 2").replace('page = ["example", "wikipedia"]', 'page = ["example"]')


def numbers_alone(drawings: Sequence[Drawing], folder: Path) -> list[str]:
    folder.mkdir(exist_ok=True)
    for one in drawings:
        write_csv(one.rows, folder / f"{one.name}.csv")
    return ["<svg/>" for _ in drawings]


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("resolab.report.build.save_drawings", numbers_alone)
    monkeypatch.setattr("resolab.studies.find_sections", list)
    folder = make_dataset(tmp_path / "d", make_plan(SMALL))
    make_report(folder)
    return folder


def publish(monkeypatch: pytest.MonkeyPatch, *arguments: Path) -> int:
    monkeypatch.setattr("sys.argv", ["publish", *map(str, arguments)])
    return script.main()


def test_a_published_folder_has_what_a_stranger_needs(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "results" / "d"
    monkeypatch.setattr("publishing.figures.LARGEST_KEPT_BYTES", 2_000)
    for _ in range(2):  # An older folder of the name is replaced.
        assert publish(monkeypatch, dataset, out) == 0
    assert {one.name for one in out.iterdir()} == {
        "README.md", "as_published.html", "figures", "manifest.json", "plan.toml", "tables",
    }  # fmt: skip
    assert not list(out.parent.glob("*.new"))
    numbers = {file.name: file.stat().st_size for file in (dataset / "report" / "figures").glob("*.csv")}
    kept = {file.name for file in (out / "figures").glob("*.csv")}
    assert kept == {name for name, size in numbers.items() if size <= 2_000} != set(numbers)
    sums = (out / "figures" / "SHA256SUMS").read_text()
    assert {line.partition("  figures/")[2] for line in sums.splitlines()} == set(numbers)
    make_report(out)
    subprocess.run(["sha256sum", "--check", "--quiet", "../figures/SHA256SUMS"], cwd=out / "report", check=True)


def test_a_report_that_the_tables_do_not_give_is_not_published(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (dataset / "report" / "figures" / "plt_change.csv").write_text("a\n1\n")
    out = tmp_path / "published"
    assert publish(monkeypatch, dataset, out) == 3
    assert "do not give plt_change.csv of its report; make the report anew" in capsys.readouterr().err
    assert not out.exists()
    assert not list(tmp_path.glob("*.new"))


def test_other_folders_are_neither_published_nor_replaced(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine").mkdir()
    for arguments in ((dataset, tmp_path / "mine"), (dataset, dataset), (tmp_path / "mine", tmp_path / "new")):
        assert publish(monkeypatch, *arguments) == 3
        assert capsys.readouterr().err.count("\n") == 1
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_page_without_figures_keeps_captions_and_names_the_command() -> None:
    page = '<header></header><figure id="a"><svg><g/></svg>\n<figcaption>Of a.</figcaption></figure><table></table>'
    text = without_figures(page, "resolab report d")
    assert "svg" not in text
    assert '<figure id="a"><figcaption>Of a.</figcaption></figure><table></table>' in text
    assert "<code>resolab report d</code></p>\n</header>" in text
