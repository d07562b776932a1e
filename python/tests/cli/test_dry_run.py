"""`resolab run --dry-run`: whom a live plan would contact, and nothing else happens."""

import json
from pathlib import Path

import pytest

from resolab.cli.main import main

PROJECT = Path(__file__).parents[3]
PLAN = """
name = "live"
question = "q?"
seed = 1
[network]
kind = "live"
vantage_point = "here"
operator_url = "https://study.resolab.test/"
[sites]
urls = ["https://a.test/"]
[resolvers.quick]
doudp = "198.18.8.1"
[factors]
resolver = ["quick"]
dns_transport = ["doudp"]
[baseline]
resolver = "quick"
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "live.toml"
    file.write_text(PLAN)
    return file


def test_it_lists_everybody_and_leaves_nothing(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(plan), "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "a.test" in out
    assert "198.18.8.1" in out
    assert "1 load, about" in out
    assert "Nobody was contacted." in out
    assert [one.name for one in plan.parent.iterdir()] == [plan.name]


def test_programs_get_an_object_for_each(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(plan), "--dry-run", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {row["host"] for row in rows} == {"a.test", "198.18.8.1"}


def test_a_plan_of_the_lab_contacts_nobody(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(PROJECT / "plans" / "quick.toml"), "--dry-run"]) == 3
    assert "runs in the lab and contacts nobody" in capsys.readouterr().err


def test_json_is_of_the_dry_run(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(plan), "--json"]) == 2
    assert "--json is for --dry-run" in capsys.readouterr().err
