"""`resolab calibrate --dataset`: for a dataset's own profiles only."""

from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT, make_dataset, make_plan

from resolab.cli.main import main


def test_a_profile_that_a_dataset_does_not_have_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_dataset(tmp_path / "d", make_plan(PLAN_TEXT.replace("blocks = 6", "blocks = 1")))
    assert main(["calibrate", "fiber", "dsl", "--dataset", str(folder)]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert "has no trials on dsl; calibrate its own profiles, " in told.err
    assert not (folder / "calibration.jsonl").exists()
