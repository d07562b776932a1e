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
