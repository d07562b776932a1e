"""Every folder of docs/results: its report has the published numbers; all folders together stay small.

Figures are not drawn: their numbers are compared.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from resolab.basics.installation import project_root
from resolab.report import make_report
from resolab.report.plots import Drawing
from resolab.report.plots.save import write_csv

pytestmark = pytest.mark.slow
RESULTS = project_root() / "docs" / "results"
FOLDERS = sorted(file.parent.name for file in RESULTS.glob("*/manifest.json"))
MOST_BYTES = 25_000_000


def numbers_alone(drawings: Sequence[Drawing], folder: Path) -> list[str]:
    folder.mkdir(exist_ok=True)
    for one in drawings:
        write_csv(one.rows, folder / f"{one.name}.csv")
    return ["<svg/>" for _ in drawings]


@pytest.mark.parametrize("name", FOLDERS)
def test_the_report_has_the_published_numbers(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resolab.report.build.save_drawings", numbers_alone)
    page = make_report(RESULTS / name, tmp_path / "report").page
    sums = RESULTS / name / "figures" / "SHA256SUMS"
    for line in sums.read_text().splitlines() if sums.is_file() else ():
        wanted, figure = line.split()
        assert hashlib.sha256((page.parent / figure).read_bytes()).hexdigest() == wanted, figure
    # The folders of November 2026 lack tables; a folder published since has all of them.
    tables = {file.stem for file in (RESULTS / name / "tables").glob("*.parquet")}
    assert ("this published folder has no table" in page.read_text()) == ("requests" not in tables)


def test_published_results_stay_small() -> None:
    made = ("report", "export")
    files = [file for file in RESULTS.rglob("*") if file.is_file() and not set(made) & set(file.parts)]
    files.sort(key=lambda file: -file.stat().st_size)
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES, f"the largest files: {files[:3]}"
