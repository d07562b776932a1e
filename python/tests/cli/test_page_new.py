"""`resolab page new`: a folder of files becomes a page, all but its load, which is tests/runs/test_own_page.py's."""

from pathlib import Path

import pytest

from resolab.cli.main import main
from resolab.plan.pages.page_file import read_pages


def new(folder: Path, *words: str) -> int:
    return main(["page", "new", str(folder), "--requests", "3", *words])


def test_nothing_becomes_a_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new(tmp_path / "My_shop") == 0
    (page,) = read_pages([tmp_path / "My_shop"])
    assert (page.path, page.request_count) == ("/", 3)
    assert page.hosts == {"my-shop.resolab.test": tmp_path / "My_shop" / "site"}
    assert (tmp_path / "My_shop" / "site" / "index.html").read_text().startswith("<!doctype html>")
    said = capsys.readouterr().out
    assert '1 host name, 3 requests; a plan beside it names it with page = ["./My_shop"]' in said
    # A path that was mistyped would not be noticed.
    assert f"nothing was there: {tmp_path}/My_shop/site/index.html is made" in " ".join(said.split())
    (tmp_path / "other" / "site").mkdir(parents=True)
    (tmp_path / "other" / "site" / "index.html").write_text("x")
    assert new(tmp_path / "other") == 0
    assert "nothing was there" not in capsys.readouterr().out


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("x")
    assert new(tmp_path / "notes") == 3
    assert "is no page's folder: it holds files, and neither site/ nor index.html" in capsys.readouterr().err
    assert [one.name for one in (tmp_path / "notes").iterdir()] == ["a.txt"]


def test_files_stay_where_they_are_and_folders_of_hosts_are_names(tmp_path: Path) -> None:
    for file in ("a/index.html", "b/site/start.html", "b/hosts/img/x.png", "b/hosts/api/y.js"):
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).write_text("x")
    assert (new(tmp_path / "a"), new(tmp_path / "b", "--path", "/start.html")) == (0, 0)
    a, b = read_pages([tmp_path / "a", tmp_path / "b"])
    assert a.hosts == {"a.resolab.test": tmp_path / "a"}
    assert [*b.hosts] == ["b.resolab.test", "api.b.resolab.test", "img.b.resolab.test"]
    assert b.path == "/start.html"


@pytest.mark.parametrize(
    ("folder", "words", "says"),
    [
        ("a b", (), "'a b' is no name of a page"),
        ("there", (), "page.toml is there; change it"),
        ("fine", ("--path", "start.html"), "path: must begin with /"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_left(
    folder: str, words: tuple[str, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "page.toml").write_text("mine")
    assert new(tmp_path / folder, *words) == 3
    assert says in capsys.readouterr().err
    assert not (tmp_path / "fine" / "page.toml").exists()
    assert (tmp_path / "there" / "page.toml").read_text() == "mine"
