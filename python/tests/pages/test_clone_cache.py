"""Clones that are kept: made once, found again by the model's bytes."""

from pathlib import Path

import pytest

from resolab.pages.clone.clone_cache import cache_folder, find_or_make_clone
from resolab.plan import Corpus

PAGES = Path(__file__).resolve().parents[3] / "pages"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_a_clone_is_made_once_and_another_model_is_another(tmp_path: Path) -> None:
    file = tmp_path / "mine.page.json"
    file.write_bytes((PAGES / "names" / "flat-2.page.json").read_bytes())
    first = find_or_make_clone(file)
    (first / "mark").touch()
    assert find_or_make_clone(file) == first
    assert (first / "mark").exists()
    assert first.name == "mine"
    file.write_text(file.read_text().replace('"wire_bytes":4000', '"wire_bytes":4001'))
    assert find_or_make_clone(file) != first
    assert not list(cache_folder().glob("making-*")), "nothing half made is left"


def test_a_plan_names_models_that_come_along_by_name_and_others_by_their_file(tmp_path: Path) -> None:
    corpus = Corpus.from_project()
    (page,) = corpus.read_pages(["flat-2"])
    assert (page.name, page.request_count, page.path) == ("flat-2", 41, "/0.html")
    assert list(page.hosts) == ["h0.s0-flat-2.test", "h1.s1-flat-2.test"]
    own = tmp_path / "own.page.json"
    own.write_text((PAGES / "names" / "flat-4.page.json").read_text().replace('"flat-4"', '"own"'))
    (mine,) = Corpus.from_project({"own": own}).read_pages(["own"])
    assert len(mine.hosts) == 4
