"""`resolab list`: everything a plan can name, for people and for programs."""

import json
from typing import Any

import pytest

from resolab.cli.list_arguments import KINDS
from resolab.cli.main import main
from resolab.plan import Corpus
from resolab.plan.factors import EVERY_FACTOR
from resolab.plan.study import list_studies


def rows(capsys: pytest.CaptureFixture[str], what: str) -> dict[str, dict[str, Any]]:
    assert main(["list", what, "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {next(iter(row.values())): row for row in found}


def test_every_name_of_each_kind_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    corpus = Corpus.from_project()
    assert tuple(rows(capsys, "pages")) == corpus.pages()
    assert tuple(rows(capsys, "profiles")) == corpus.profiles()
    assert tuple(rows(capsys, "plans")) == corpus.plans()
    assert tuple(rows(capsys, "factors")) == EVERY_FACTOR
    assert list(rows(capsys, "studies")) == list_studies()


def test_rows_say_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    pages = rows(capsys, "pages")
    assert (pages["names-12"]["names_count"], pages["names-12"]["requests_count"]) == (12, 40)
    assert pages["example"]["bytes"] == 1256
    fourg = rows(capsys, "profiles")["4g"]
    assert (fourg["rtt_ms"], fourg["down_bps"]) == (91.852, 53_954_872)
    factors = rows(capsys, "factors")
    assert factors["browser"]["levels"] == ["chromium", "firefox"]
    assert (factors["browser"]["default"], factors["browser"]["needed"]) == ("chromium", False)
    assert factors["resolver_extra_rtt_ms"]["levels"] == ["0 to 10000"]
    assert factors["dns_transport"]["needed"] is True
    redial = rows(capsys, "studies")["redial"]
    assert "kept_open" in redial["arms"]
    assert (redial["settings"], redial["outcomes"]) == (["queries_count = 20", "mean_gap_ms = 100"], ["redial.mean"])


@pytest.mark.parametrize("what", KINDS)
def test_people_get_a_table(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", what]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 4


def test_profiles_are_a_line_each_under_their_source(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "profiles"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    (fourg,) = (line for line in lines if line.startswith("4g "))
    assert fourg.split() == ["4g", "91.9", "54.0", "21.2"]
    (ideal,) = (line for line in lines if line.startswith("ideal "))
    assert ideal.split() == ["ideal", "0.0", "no", "limit", "no", "limit"]
    # A source of many profiles is one entry.
    assert not any(line.startswith("errant-telia") for line in lines)
    assert "errant-*: 26 profiles" in " ".join(lines)


def test_all_profiles_are_listed_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "profiles", "--all"]) == 0
    first = [line.split(" ")[0] for line in capsys.readouterr().out.splitlines()]
    assert set(Corpus.from_project().profiles()) <= set(first)


def test_words_choose_names(capsys: pytest.CaptureFixture[str]) -> None:
    names = set(rows(capsys, "profiles"))
    assert main(["list", "profiles", "sweden-3g", "fiber", "--json"]) == 0
    found = {json.loads(line)["profile"] for line in capsys.readouterr().out.splitlines()}
    assert found == {name for name in names if "sweden-3g" in name or "fiber" in name}
    assert main(["list", "profiles", "sweden-3g"]) == 0
    assert "errant-3-sweden-3g-bad" in capsys.readouterr().out
    assert main(["list", "profiles", "nowhere"]) == 2
    assert "contains 'nowhere'" in capsys.readouterr().err
