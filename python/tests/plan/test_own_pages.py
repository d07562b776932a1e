"""Pages that lie where their owner has them, named by path in a plan."""

import re
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT

from resolab.basics.errors import ConfigurationError
from resolab.plan import Corpus, Plan, load_plan, parse_plan
from resolab.plan.pages.own_pages import is_model, is_path, own_pages, read_page_name

PAGE = 'folder = "site"\npath = "/"\nrequest_count = 1\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("shop", "elsewhere/blog"):
        (tmp_path / name / "site").mkdir(parents=True)
        (tmp_path / name / "site" / "index.html").touch()
        text = f'host = "{Path(name).name}.resolab.test"\n{PAGE}'
        (tmp_path / name / "page.toml").write_text(text)
    return tmp_path


def loaded(home: Path, pages: str, more: str = "") -> Plan:
    plan = home / "plan.toml"
    plan.write_text(PLAN_TEXT.replace('["example", "wikipedia"]', pages) + more)
    return load_plan(plan)


def test_a_folder_beside_the_plan_is_a_page_under_its_own_name(home: Path) -> None:
    plan = loaded(
        home, f'["./shop", "example", "{home}/elsewhere/blog"]', '[[exclude]]\npage = ["shop"]\nprofile = ["4g"]\n'
    )
    assert plan.factors.page == ("shop", "example", "blog")
    assert plan.own_pages == {"shop": home / "shop", "blog": home / "elsewhere" / "blog"}
    assert {one.profile for one in plan.conditions() if one.page == "shop"} == {"fiber"}
    corpus = Corpus.from_project(plan.own_pages)
    assert [page.name for page in corpus.read_pages(plan.factors.page)] == ["shop", "example", "blog"]


def test_the_same_text_is_read_again_from_anywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = loaded(home, '["./shop"]')
    monkeypatch.chdir("/")
    again = parse_plan(plan.source_text, "manifest", Corpus.from_project(), base=home)
    assert again.own_pages == plan.own_pages
    # For a report the folder need not be there any more.
    assert parse_plan(plan.source_text, "manifest", None).factors.page == ("shop",)


@pytest.mark.parametrize(
    ("pages", "says"),
    [
        ('["./nowhere"]', "nowhere has no page.toml; `resolab page new"),
        ('["./shop", "elsewhere/shop"]', "has no page.toml"),
        ('["shop"]', "unknown level 'shop'"),
        ('["./a b"]', "has no page.toml"),
    ],
)
def test_what_is_no_page_is_refused(home: Path, pages: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        loaded(home, pages)


def test_two_pages_of_one_name_are_refused(home: Path) -> None:
    for folder in ("other/shop", "example"):
        (home / folder / "site").mkdir(parents=True)
        (home / folder / "site" / "index.html").touch()
        (home / folder / "page.toml").write_text(f'host = "x.resolab.test"\n{PAGE}')
    with pytest.raises(ConfigurationError, match="two folders or page models have one name"):
        loaded(home, '["./shop", "other/shop"]')
    with pytest.raises(ConfigurationError, match="name of a page that comes along; rename the folder"):
        loaded(home, '["./example"]')


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("./shop", "shop"),
        ("cnn.page.json", "cnn"),
        ("./models/bbc-com.page.json", "bbc-com"),
        ("/a/b.page.json", "b"),
        ("example", "example"),
        ("page.json", "page.json"),
    ],
)
def test_a_page_model_is_named_by_its_file_without_the_ending(word: str, name: str) -> None:
    assert read_page_name(word) == name
    assert is_path(word) == (word not in {"example", "page.json"})
    assert is_model(word) == word.endswith(".page.json")


def test_a_page_model_that_is_not_there_or_has_the_name_of_another_page_is_refused(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=re.escape("cnn.page.json does not exist; `resolab page import`")):
        loaded(home, '["cnn.page.json"]')
    for file in ("shop.page.json", "example.page.json"):
        (home / file).write_text("{}")
    with pytest.raises(ConfigurationError, match="two folders or page models have one name"):
        loaded(home, '["./shop", "shop.page.json"]')
    with pytest.raises(ConfigurationError, match="name of a page that comes along"):
        loaded(home, '["example.page.json"]')


def test_a_corpus_has_the_files_of_page_models_under_their_names(home: Path) -> None:
    found = own_pages(["./models/cnn.page.json", "./shop", "example"], home)
    assert found == {"cnn": home / "models" / "cnn.page.json", "shop": home / "shop"}
    assert Corpus.from_project(found).pages()[-2:] == ("cnn", "shop")


def test_more_names_than_chromium_can_be_told_for_http_3_are_refused(home: Path) -> None:
    hosts = "".join(f'"n{number:04}.{"x" * 60}.test" = "site"\n' for number in range(2_000))
    (home / "shop" / "page.toml").write_text(f'host = "shop.resolab.test"\n{PAGE}[hosts]\n{hosts}')
    with pytest.raises(ConfigurationError, match="chromium cannot be told 2001 host names for HTTP/3"):
        loaded(home, '["./shop"]')
    in_firefox = PLAN_TEXT.replace('http_version = ["h3"]', 'http_version = ["h3"]\nbrowser = ["firefox"]')
    (home / "plan.toml").write_text(in_firefox.replace('["example", "wikipedia"]', '["./shop"]'))
    assert load_plan(home / "plan.toml").factors.page == ("shop",)
