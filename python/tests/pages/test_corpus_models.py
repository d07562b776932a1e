"""The page models that come along: real pages without content, and pages that differ in their number of names."""

import importlib.util
import json
from pathlib import Path

import pytest

from resolab.pages.clone.roles import assign_roles
from resolab.pages.facts import count_facts
from resolab.pages.file import ENDING, model_text, read_model
from resolab.pages.model import Discovery

PAGES = Path(__file__).resolve().parents[3] / "pages"
CORPUS = sorted((PAGES / "corpus").glob(f"*{ENDING}"))
WORDS_OF_PAGES = ("http:", "https:", "://", "www.", ".com", ".html", "?")


def test_the_corpus_has_real_pages_of_every_size() -> None:
    sizes = sorted(count_facts(read_model(file)).requests_count for file in CORPUS)
    assert len(sizes) >= 24
    assert (sizes[0], sizes[-1]) == (13, 1184)


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.name.removesuffix(ENDING))
def test_a_model_of_the_corpus_is_whole_and_has_no_name_in_it(file: Path) -> None:
    model = read_model(file)
    assert model.name == file.name.removesuffix(ENDING)
    assert model_text(model) == file.read_text("utf-8"), "as `page import` writes it"
    assert all(host.name is None for host in model.hosts)
    requests = json.dumps(json.loads(file.read_text("utf-8"))["resources"])
    assert not [word for word in WORDS_OF_PAGES if word in requests]
    asked_by = [place for role in assign_roles(model) for place in (*role.markup, *role.runs, *role.styles)]
    redirected = [role.redirect for role in assign_roles(model) if role.redirect is not None]
    assert sorted([0, *asked_by, *redirected]) == list(range(len(model.resources))), "each is asked for once"


def maker():
    spec = importlib.util.spec_from_file_location("make_name_counts", PAGES / "make_name_counts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_committed_models_of_name_counts_are_what_the_maker_makes() -> None:
    made = {f"{model.name}{ENDING}": model_text(model) for model in maker().models()}
    assert {file.name: file.read_text("utf-8") for file in (PAGES / "names").iterdir()} == made


def test_pages_of_name_counts_differ_in_names_alone() -> None:
    models = {model.name: model for model in maker().models()}
    for shape, requests, bytes_ in (("flat", 41, 172_000), ("chain", 44, 178_000)):
        facts = {name: count_facts(model) for name, model in models.items() if name.startswith(shape)}
        assert {(one.requests_count, one.wire_bytes) for one in facts.values()} == {(requests, bytes_)}
        assert all(one.hosts_count == int(name.rpartition("-")[2]) for name, one in facts.items())
    chain = models["chain-40"]
    assert sum(one.discovery is Discovery.SCRIPT for one in chain.resources) == 42
    assert count_facts(chain).depth == 4
