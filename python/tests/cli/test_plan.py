import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from resolab.basics.records import TrialKind
from resolab.cli.main import main
from resolab.plan import load_plan, pool_pages, trials_a_block
from resolab.plan.corpus import PROJECT_ROOT
from resolab.plan.schema import plan_schema

PLANS = sorted((PROJECT_ROOT / "plans").glob("*.toml"))


def checked(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["plan", "check", *arguments]) == 0
    return capsys.readouterr().out


def test_check_says_what_would_run(capsys: pytest.CaptureFixture[str]) -> None:
    out = checked(capsys, str(PROJECT_ROOT / "plans" / "browsers-quick.toml"))
    plan = load_plan(PROJECT_ROOT / "plans" / "browsers-quick.toml")
    assert "24 conditions in 4 blocks: 96 trials, about" in out
    assert 'excluded: 10 combinations with http_version = ["h2"], requested_handshake_mode = ["zero_rtt"]' in out
    assert all(one.id in out for one in plan.conditions())
    assert out.count("(baseline)") == 2
    assert "warning: 4 blocks: too few to tell anything" in out


@pytest.mark.parametrize("plan_file", PLANS, ids=lambda file: file.stem)
def test_json_holds_every_condition_with_its_levels(capsys: pytest.CaptureFixture[str], plan_file: Path) -> None:
    found = json.loads(checked(capsys, str(plan_file), "--json", "--blocks", "3", "--seed", "5"))
    plan = load_plan(plan_file)
    assert [one["condition"] for one in found["conditions"]] == [one.id for one in pool_pages(plan).conditions()]
    assert (found["seed"], found["trials_count"]) == (5, 3 * trials_a_block(plan))
    assert found["pages"] == [*plan.factors.page]
    assert found["too_few_blocks"].startswith(f"3 {plan.design.unit}s: too few")
    first = found["conditions"][0]
    assert {"browser", "resolver_path", "doh_method", "page", "baseline"} <= first.keys()
    # A page load takes no minutes; without a browser a trial takes less than a second.
    # A study's trial is what its study makes of it.
    low_s, high_s = (0.1, 1) if plan.kind in {TrialKind.EXCHANGE, TrialKind.FETCH} else (0.1, 30)
    assert low_s < found["expected_duration_s"] / found["trials_count"] < high_s


MORE = """
[[comparison]]
name = "DoQ"
treatment = { dns_transport = ["doq"], requested_handshake_mode = ["full"] }
baseline = { dns_transport = "doudp", resolver_path = "stub" }
[[repeat]]
dns_transport = ["doq"]
times = 3
[stop]
ci_width_ms = 12.5
min_blocks = 3
"""


def test_check_says_what_is_compared_and_when_it_stops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "p.toml"
    file.write_text((PROJECT_ROOT / "plans" / "browsers-quick.toml").read_text() + MORE)
    out = checked(capsys, str(file))
    assert "comparisons: 2 named in the plan, 12 of copies with each other (A/A)" in out
    assert "  DoQ: 2" in out
    assert re.search(
        r"stops from 3 blocks on \(about .*\) when every interval is at most 12.5 ms wide, after 4 blocks", out
    )
    assert out.count("(copy)") == 8
    found = json.loads(checked(capsys, str(file), "--json"))
    assert found["least_duration_s"] == pytest.approx(found["expected_duration_s"] * 3 / 4, rel=0.1)
    assert [one["kind"] for one in found["comparisons"]] == ["planned"] * 2 + ["aa"] * 12


def test_several_paths_are_said_and_take_less_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (PROJECT_ROOT / "plans" / "quick.toml").read_text()
    (tmp_path / "one.toml").write_text(text)
    (tmp_path / "several.toml").write_text(text + "paths = 2\n")
    one = json.loads(checked(capsys, str(tmp_path / "one.toml"), "--json"))
    several = json.loads(checked(capsys, str(tmp_path / "several.toml"), "--json"))
    assert (one["paths_count"], several["paths_count"]) == (1, 2)
    assert one["expected_duration_s"] / 2 < several["expected_duration_s"] < 0.75 * one["expected_duration_s"]
    assert "at a time" not in checked(capsys, str(tmp_path / "one.toml"))
    assert "240 trials, 2 at a time, about " in checked(capsys, str(tmp_path / "several.toml"))


def test_a_bad_plan_is_one_line_and_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (PROJECT_ROOT / "plans" / "browsers-quick.toml").read_text().replace('zero_rtt"]\n\n', 'resumed"]\n\n', 1)
    (tmp_path / "p.toml").write_text(text)
    assert main(["plan", "check", str(tmp_path / "p.toml")]) == 3
    error = capsys.readouterr().err
    assert error.startswith("resolab: ")
    assert error.count("\n") == 1
    assert "add [[exclude]] with" in error


def problems(value: Any, schema: Any, where: str = "") -> list[str]:
    """The part of JSON Schema that the plan's schema uses."""
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool}
    if "type" in schema and not isinstance(value, kinds[schema["type"]]):
        return [f"{where} is no {schema['type']}"]
    found: list[str] = []
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        found.append(f"{where} is {value}")
    if isinstance(value, dict):
        found += of_table(value, schema, where)
    if isinstance(value, list) and "items" in schema:
        found += [problem for one in value for problem in problems(one, schema["items"], where)]
    return [*found, *of_forms(value, schema, where)]


def of_table(value: dict[str, Any], schema: Any, where: str) -> list[str]:
    found = [f"{where} lacks {name}" for name in schema.get("required", []) if name not in value]
    known, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    found += [f"{where} has {name}" for name in value if name not in known and others is False]
    for name, one in value.items():
        found += problems(one, known.get(name, others if isinstance(others, dict) else {}), f"{where}.{name}")
    return found


def of_forms(value: Any, schema: Any, where: str) -> list[str]:
    found: list[str] = []
    if "anyOf" in schema and all(problems(value, one) for one in schema["anyOf"]):
        found.append(f"{where} is none of its forms")
    if "oneOf" in schema and sum(not problems(value, one) for one in schema["oneOf"]) != 1:
        found.append(f"{where} is not one of its forms")
    if "if" in schema:
        found += problems(value, schema.get("else" if problems(value, schema["if"]) else "then", {}), where)
    if "not" in schema and not problems(value, schema["not"]):
        found.append(f"{where} is what it must not be")
    return found + [problem for one in schema.get("allOf", []) for problem in problems(value, one, where)]


@pytest.mark.parametrize("plan_file", PLANS, ids=lambda file: file.stem)
def test_the_schema_accepts_every_plan_of_the_project(plan_file: Path) -> None:
    assert problems(tomllib.loads(plan_file.read_text()), plan_schema()) == []


def test_the_schema_refuses_what_is_misspelt() -> None:
    plan = tomllib.loads((PROJECT_ROOT / "plans" / "browsers-quick.toml").read_text())
    plan["factors"]["resolver_cache"] = ["lost"]
    plan["factors"]["h3_discvery"] = ["forced"]
    del plan["seed"]
    plan["resolver_path"]["doq"] = "tunnel"
    plan["exclude"][0]["http_version"] = "h2"
    assert len(problems(plan, plan_schema())) == 5


def test_the_schema_tells_a_live_plan_from_a_labs() -> None:
    plan = tomllib.loads((PROJECT_ROOT / "plans" / "live-demo.toml").read_text())
    del plan["sites"]
    plan["network"]["kind"] = "real"
    plan["resolvers"]["unbound"]["dohh"] = "https://198.18.2.1"
    assert len(problems(plan, plan_schema())) == 3
    lab = tomllib.loads((PROJECT_ROOT / "plans" / "quick.toml").read_text())
    del lab["resolver_path"]
    assert problems(lab, plan_schema()) == [" lacks resolver_path"]


def test_the_committed_schema_is_the_one_made_from_the_factors(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "schema"]) == 0
    assert capsys.readouterr().out == (PROJECT_ROOT / "schema" / "plan.schema.json").read_text()
