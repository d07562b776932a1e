"""Pages that lie where their owner has them, named by path in a plan."""

import re
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT

from resolab.errors import ConfigurationError
from resolab.plan import Corpus, Plan, load_plan, parse_plan

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
    corpus = Corpus.of_project(plan.own_pages)
    assert [page.name for page in corpus.read_pages(plan.factors.page)] == ["shop", "example", "blog"]


def test_the_same_text_is_read_again_from_anywhere(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = loaded(home, '["./shop"]')
    monkeypatch.chdir("/")
    again = parse_plan(plan.source_text, "manifest", Corpus.of_project(), base=home)
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
    with pytest.raises(ConfigurationError, match="two folders have one name"):
        loaded(home, '["./shop", "other/shop"]')
    with pytest.raises(ConfigurationError, match="name of a page that comes along; rename the folder"):
        loaded(home, '["./example"]')
