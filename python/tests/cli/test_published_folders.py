"""`compare`, `plan power --from` and `export` read every folder of docs/results."""

import json
from pathlib import Path

import pytest

from resolab.basics.installation import project_root
from resolab.cli.main import main
from resolab.store.columns import ALWAYS_PUBLISHED

pytestmark = pytest.mark.slow
RESULTS = project_root() / "docs" / "results"
FOLDERS = sorted(file.parent.name for file in RESULTS.glob("*/manifest.json"))


@pytest.mark.parametrize("name", FOLDERS)
def test_commands_read_a_published_folder(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(RESULTS / name)
    assert main(["compare", folder, folder, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["conditions"]
    assert not any(one["significant"] for one in found["conditions"])
    pilot = ["--from", folder, "--most-blocks", "12"]
    assert main(["plan", "power", f"{folder}/plan.toml", *pilot, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["comparisons"]
    assert main(["export", folder, "-o", str(tmp_path)]) == 0
    exported = {file.stem for file in tmp_path.glob("*.csv")}
    assert exported == {file.stem for file in Path(folder, "tables").glob("*.parquet")} >= set(ALWAYS_PUBLISHED)
