"""`resolab page clone`: a folder that is whole, or none."""

import errno
from pathlib import Path
from typing import Any

import pytest

from resolab.cli.main import main
from resolab.cli.page import clone


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert main(["page", "generate", "--count", "1", "-o", "models"]) == 0
    (file,) = Path("models").iterdir()
    return file


def test_a_clone_is_a_folder_and_nothing_is_left_beside_it(model: Path) -> None:
    assert main(["page", "clone", str(model), "-o", "new/shop"]) == 0
    assert [one.name for one in Path("new").iterdir()] == ["shop"]
    assert (Path("new/shop").stat().st_mode & 0o777) == (Path("new").stat().st_mode & 0o777)
    assert {one.name for one in Path("new/shop").iterdir()} >= {"page.toml", "hosts", "clone.page.json"}


def test_a_full_disk_leaves_no_half_clone(
    model: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fill_disk(_model: object, folder: Path, **_how: Any) -> None:
        (folder / "hosts").mkdir()
        (folder / "hosts" / "a").write_text("half")
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(clone, "write_clone", fill_disk)
        assert main(["page", "clone", str(model), "-o", "shop"]) == 4
    assert "failed to write shop: No space left on device; free some space" in capsys.readouterr().err
    assert [one.name for one in Path().iterdir()] == ["models"]
    assert main(["page", "clone", str(model), "-o", "shop"]) == 0
