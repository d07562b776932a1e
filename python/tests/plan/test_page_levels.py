"""Levels of `page` that stand for many: patterns and drawn pages, read anew wherever the plan is."""

import re
from pathlib import Path

import pytest
from synthetic_dataset import PLAN_TEXT

from resolab.basics.errors import ConfigurationError
from resolab.pages.file import read_model
from resolab.pages.generated import generate
from resolab.plan import Corpus, PageCertificates, Plan, load_plan, parse_plan
from resolab.plan.pages.own_pages import GeneratedPage

GENERATED = "[pages.generated]\ncount = 3\nseed = 9\n"
DRAWN = ("generated-9-0001", "generated-9-0002", "generated-9-0003")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def text_of(pages: str, more: str = "") -> str:
    text = PLAN_TEXT.replace('http_version = ["h3"]', 'http_version = ["h3"]\nbrowser = ["firefox"]') + more
    return text.replace('page = ["example", "wikipedia"]\n', f"page = {pages}\n" if pages else "")


def loaded(folder: Path, pages: str, more: str = "") -> Plan:
    file = folder / "plan.toml"
    file.write_text(text_of(pages, more))
    return load_plan(file)


def test_a_folder_of_models_that_come_along_is_named_by_a_pattern(tmp_path: Path) -> None:
    corpus = Corpus.from_project()
    of_folder = [name for name, file in corpus.models().items() if file.parent.name == "corpus"]
    assert list(loaded(tmp_path, '["corpus/*"]').factors.page) == sorted(of_folder)
    some = loaded(tmp_path, '["example", "names/flat-?", "flat-4", "names-1*"]').factors.page
    assert some == ("example", "flat-1", "flat-2", "flat-8", "flat-4", "names-12", "names-12-chain")


def test_what_a_pattern_brought_is_left_out_by_name(tmp_path: Path) -> None:
    some = loaded(tmp_path, '["example", "!flat-1*", "names/flat-*"]').factors.page
    assert some == ("example", "flat-2", "flat-20", "flat-30", "flat-4", "flat-40", "flat-8")
    with pytest.raises(ConfigurationError, match=re.escape("factors.page: '!flat-9' leaves out none of its pages")):
        loaded(tmp_path, '["names/flat-*", "!flat-9"]')


def test_files_and_folders_beside_the_plan_are_found_in_the_order_of_their_names(tmp_path: Path) -> None:
    model = (Corpus.from_project().root / "pages" / "names" / "flat-1.page.json").read_text()
    home = tmp_path / "with [brackets]"
    (home / "mine").mkdir(parents=True)
    for name in ("b", "a"):
        (home / "mine" / f"{name}.page.json").write_text(model.replace('"flat-1"', f'"{name}"'))
    (home / "mine" / "notes").mkdir()
    plan = loaded(home, '["./mine/*"]')
    assert plan.factors.page == ("a", "b")
    assert plan.own_pages["b"] == home / "mine" / "b.page.json"
    assert loaded(tmp_path, f'["{home}/mine/?.page.json"]').factors.page == ("a", "b")


@pytest.mark.parametrize("pattern", ["nothing/*", "flat-?x", "./mine/*.page.json", "example/*"])
def test_what_matches_nothing_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(f"plan.toml: factors.page: no page is like {pattern!r};")):
        loaded(tmp_path, f'["{pattern}"]')


def test_drawn_pages_are_levels_like_others_and_need_nothing_but_the_plan(tmp_path: Path) -> None:
    plan = loaded(tmp_path, '["example"]', GENERATED)
    assert plan.factors.page == ("example", *DRAWN)
    assert plan.own_pages[DRAWN[1]] == GeneratedPage(9, 2)
    assert parse_plan(plan.source_text, "manifest", None).factors.page == plan.factors.page
    alone = loaded(tmp_path, "", GENERATED + '[[exclude]]\npage = ["generated-9-0002"]\n')
    assert {one.page for one in alone.conditions()} == {DRAWN[0], DRAWN[2]}


def test_the_clone_of_a_drawn_page_is_kept_and_is_of_its_model(tmp_path: Path) -> None:
    corpus = Corpus.from_project(loaded(tmp_path, "", GENERATED).own_pages)
    folder = corpus.page_folder(DRAWN[0])
    assert folder.name == DRAWN[0]
    assert read_model(folder / "clone.page.json") == generate(9, 1)
    (folder / "mark").touch()
    assert corpus.page_folder(DRAWN[0]) == folder
    assert corpus.page_folder(DRAWN[1]).parent != folder.parent
    (page,) = corpus.read_pages([DRAWN[0]])
    assert sorted(page.hosts) == sorted(corpus.hosts_of_model(DRAWN[0]))


def test_a_plan_with_drawn_pages_is_read_without_making_their_clones(tmp_path: Path) -> None:
    loaded(tmp_path, "", GENERATED.replace("count = 3", "count = 200"))
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("[pages.generated]\nseed = 1\n", "pages.generated.count: is missing"),
        ("[pages.generated]\ncount = 0\n", "pages.generated.count: must be a whole number from 1 to 2000, not 0"),
        ("[pages.generated]\ncount = 2\nseed = -1\n", "pages.generated.seed: must be a whole number"),
        ("[pages.generated]\ncount = 2\nsize = 1\n", "pages.generated.size: unknown key; allowed: count, seed"),
        ("[pages.drawn]\ncount = 2\n", "pages.drawn: unknown key; allowed: generated"),
        ("[pages]\ngenerated = 3\n", "pages.generated: must be a table"),
    ],
)
def test_a_mistake_in_what_is_drawn_is_named(tmp_path: Path, more: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(says)):
        loaded(tmp_path, '["example"]', more)


def test_without_any_page_a_plan_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=re.escape("factors.page: is missing")):
        loaded(tmp_path, "")


def test_a_dataset_is_read_with_the_pages_it_was_begun_with(tmp_path: Path) -> None:
    text, corpus = text_of('["names/flat-?", "example"]', GENERATED), Corpus.from_project()
    begun = ["flat-2", "flat-8", "example", *DRAWN]
    # Some have come since: they are no part of this run, for a report as for a resume.
    assert parse_plan(text, "manifest", None, begun_with=begun).factors.page == tuple(begun)
    assert parse_plan(text, "manifest", corpus, begun_with=begun).factors.page == tuple(begun)
    with pytest.raises(ConfigurationError, match="page 'flat-3', which the run began with, is not there any more"):
        parse_plan(text, "manifest", corpus, begun_with=["flat-3", *begun])
    # The report needs none of them.
    assert "flat-3" in parse_plan(text, "manifest", None, begun_with=["flat-3", *begun]).factors.page


def test_a_plan_says_which_names_of_its_pages_share_a_certificate(tmp_path: Path) -> None:
    def certificates(more: str) -> PageCertificates:
        return loaded(tmp_path, '["example"]', more).pages.certificates

    assert certificates("") is PageCertificates.RECORDED
    assert certificates('[pages]\ncertificates = "site"\n') is PageCertificates.SITE
    with pytest.raises(ConfigurationError, match=r"pages\.certificates"):
        certificates('[pages]\ncertificates = "all"\n')
