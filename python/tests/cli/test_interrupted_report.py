"""Ctrl-C while the report is made is an interruption like any other, whoever notices it first."""

from pathlib import Path

import pytest
from synthetic_dataset import make_dataset

from resolab import report
from resolab.cli.main import main


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")], ids=["python", "duckdb"])
def test_a_stop_in_the_report_says_how_to_have_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: BaseException
) -> None:
    def stopped(_folder: Path, _out: Path | None = None) -> None:
        raise error

    monkeypatch.setattr(report, "make_report", stopped)
    folder = make_dataset(tmp_path / "data set")
    assert main(["report", str(folder)]) == 130
    said = capsys.readouterr().err
    assert f"the dataset is whole. Make its report with: resolab report '{folder}'" in said.replace(
        "./resolab", "resolab"
    )


def test_anything_else_is_no_interruption(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_folder: Path, _out: Path | None = None) -> None:
        raise RuntimeError("something else")

    monkeypatch.setattr(report, "make_report", broken)
    assert main(["report", str(make_dataset(tmp_path / "d"))]) == 70
    assert "RuntimeError: something else" in capsys.readouterr().err
