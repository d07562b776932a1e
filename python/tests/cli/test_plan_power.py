"""`resolab plan power`: what a pilot says about a plan, as people and programs get it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from synthetic_dataset import PLAN_TEXT, Faults, make_dataset, make_plan

from resolab.cli.main import main

TEXT = PLAN_TEXT.replace('["fiber", "4g"]', '["fiber"]')
SEQUENCE = '[stop]\nrule = "confidence_sequence"\nci_width_ms = 6.0\n'


@pytest.fixture(scope="module")
def pilot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    plan = make_plan(TEXT.replace("blocks = 6", "blocks = 12"))
    return make_dataset(tmp_path_factory.mktemp("pilot") / "d", plan)


def written(folder: Path, text: str) -> str:
    (folder / "p.toml").write_text(text)
    return str(folder / "p.toml")


def power(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["plan", "power", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def answers(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, list[dict[str, Any]]]:
    found = json.loads(power(capsys, *arguments, "--json"))
    return {one["treatment"]: one["answers"] for one in found["comparisons"]}


def test_blocks_and_hours_of_every_comparison(tmp_path: Path, pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = written(tmp_path, TEXT)
    found = answers(capsys, plan, "--from", pilot, "--width-ms", "6")
    assert len(found) == 10
    for (one,) in found.values():
        assert one["aim"] == "width of 6 ms"
        assert 6 <= one["blocks_low_count"] <= one["blocks_count"]
        # Two conditions of 2.5 s a trial.
        assert one["hours"] == pytest.approx(one["blocks_count"] * 5 / 3600, abs=1e-4)
    whole = json.loads(power(capsys, plan, "--from", pilot, "--width-ms", "6", "--json"))["plan"]
    last = max(one["blocks_count"] for (one,) in found.values())
    assert [one["blocks_count"] for one in whole] == [last]
    assert whole[0]["all_conditions_hours"] == pytest.approx(last * 12 * 2.5 / 3600, abs=1e-3)
    # Each page's baseline runs as long as the longest of its comparisons, which is the whole time for one page only.
    blocks = [one["blocks_count"] for (one,) in found.values()]
    needed = sum(blocks) + max(blocks[:5]) + max(blocks[5:])
    assert whole[0]["needed_conditions_hours"] == pytest.approx(needed * 2.5 / 3600, abs=1e-3)
    narrower = answers(capsys, plan, "--from", pilot, "--width-ms", "4")
    assert all(narrower[name][0]["blocks_count"] > one["blocks_count"] for name, (one,) in found.items())


def test_the_plans_rule_and_width_are_what_is_asked_for(
    tmp_path: Path, pilot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = answers(capsys, written(tmp_path, TEXT), "--from", pilot)
    assert {one["aim"] for row in plain.values() for one in row} == {"difference as in the pilot"}
    by_sequence = answers(capsys, written(tmp_path, TEXT + SEQUENCE), "--from", pilot)
    first = next(iter(by_sequence.values()))
    assert [one["aim"] for one in first] == ["difference as in the pilot", "width of 6 ms"]
    fixed = answers(capsys, written(tmp_path, TEXT), "--from", pilot, "--width-ms", "6")
    assert all(by_sequence[name][1]["blocks_count"] > one["blocks_count"] for name, (one,) in fixed.items())
    ratio = answers(capsys, written(tmp_path, TEXT + "[stop]\nci_width_ratio = 0.01\n"), "--from", pilot)
    assert next(iter(ratio.values()))[1]["aim"] == "width of 0.01 of the baseline's median"


def test_a_table_for_people(tmp_path: Path, pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = written(tmp_path, TEXT)
    arguments = (plan, "--from", pilot, "--effect-ms", "0.01", "--margin-ms", "50", "--most-blocks", "100")
    out = power(capsys, *arguments)
    assert "not within 100" in out
    assert re.search(r"within ±50 ms +\d+ \[\d+, \d+\] +0\.0", out)
    assert "whole plan, difference of 0.01 ms: no number, as some comparison has none" in out
    assert re.search(r"whole plan, within ±50 ms: \d+ blocks; [\d.]+ h with all conditions in each", out)
    assert "chance of 80 %" in out


def test_what_the_pilot_lacks_is_said(tmp_path: Path, pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = power(capsys, written(tmp_path, TEXT.replace('["fiber"]', '["fiber", "4g"]')), "--from", pilot)
    assert out.count("not in the pilot") == 10
    few = make_dataset(tmp_path / "few", make_plan(TEXT.replace("blocks = 6", "blocks = 5")))
    assert "5 pairs in the pilot, 6 needed" in power(capsys, written(tmp_path, TEXT), "--from", few)
    failing = make_dataset(tmp_path / "failing", make_plan(TEXT), Faults(timeouts=True))
    assert "[" in power(capsys, written(tmp_path, TEXT), "--from", failing)


def test_check_prints_it_when_a_pilot_is_named(tmp_path: Path, pilot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = written(tmp_path, TEXT + SEQUENCE)
    assert main(["plan", "check", plan, "--pilot", str(pilot)]) == 0
    out = capsys.readouterr().out
    assert "decides each comparison by itself from 6 blocks on" in out
    assert f"by the pilot {pilot}:" in out
    assert "whole plan, width of 6 ms: " in out
    assert main(["plan", "check", plan, "--json", "--pilot", str(pilot)]) == 0
    assert json.loads(capsys.readouterr().out)["power"]["most_blocks_count"] == 1000
    assert main(["plan", "check", plan, "--json"]) == 0
    assert "power" not in json.loads(capsys.readouterr().out)


def test_a_folder_that_is_no_dataset_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "power", written(tmp_path, TEXT), "--from", str(tmp_path / "none")]) == 3
    assert capsys.readouterr().err.count("\n") == 1
