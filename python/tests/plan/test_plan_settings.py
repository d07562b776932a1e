"""Settings are declared once: what the schema of plans says of a number is what reading it does."""

from collections.abc import Iterator
from typing import Any

import pytest
from test_plan_load import TEXT

from resolab.basics.errors import ConfigurationError
from resolab.plan import Analysis, Estimand, OutcomeName, Plan, parse_plan
from resolab.plan.schema import plan_schema

BARE = TEXT[: TEXT.index("[limits]")]


def numbers() -> Iterator[tuple[str, str, dict[str, Any]]]:
    properties = plan_schema()["properties"]
    tables = {"": properties} | {
        name: one["properties"]
        for name, one in properties.items()
        if name in {"stop", "resolver", "edge", "queries", "limits", "instrument", "analysis"}
    }
    for table, keys in tables.items():
        for key, one in keys.items():
            if one.get("type") in {"integer", "number"}:
                yield table, key, one


def plan_with(table: str, key: str, value: float) -> Plan:
    if not table:
        lines = [line for line in BARE.splitlines() if not line.startswith(f"{key} =")]
        return parse_plan("\n".join([f"{key} = {value!r}", *lines]), "p", None)
    width = "ci_width_ms = 1\n" if table == "stop" and not key.startswith("ci_width") else ""
    return parse_plan(f"{BARE}[{table}]\n{width}{key} = {value!r}\n", "p", None)


@pytest.mark.parametrize(
    ("table", "key", "schema"), list(numbers()), ids=lambda one: one if isinstance(one, str) else ""
)
def test_the_schemas_bounds_are_those_of_the_reader(table: str, key: str, schema: dict[str, Any]) -> None:
    whole = schema["type"] == "integer"
    lowest = schema["minimum"] if whole else schema["exclusiveMinimum"] + 1e-6
    for value in (lowest, schema["maximum"]):
        plan = plan_with(table, key, value)
        assert getattr(getattr(plan, table) if table else plan, key) == value
    for value in (schema["minimum"] - 1 if whole else schema["exclusiveMinimum"], schema["maximum"] + 1):
        with pytest.raises(ConfigurationError, match=f"p: {table}.?{key}: must be"):
            plan_with(table, key, value)


def test_every_number_of_the_schema_is_among_them() -> None:
    assert len(list(numbers())) == 14


def test_the_back_end_is_one_of_the_schemas_words() -> None:
    words = plan_schema()["properties"]["instrument"]["properties"]["backend"]["enum"]
    assert words == ["tun", "packet"]
    for word in words:
        assert parse_plan(f'{BARE}[instrument]\nbackend = "{word}"\n', "p", None).instrument.backend == word
    assert parse_plan(BARE, "p", None).instrument.backend == "tun"
    with pytest.raises(ConfigurationError, match=r"instrument.backend: .*netem.*tun.*packet"):
        parse_plan(f'{BARE}[instrument]\nbackend = "netem"\n', "p", None)


def analysis_of(text: str) -> Analysis:
    return parse_plan(f"{BARE}[analysis]\n{text}\n", "p", None).analysis


def test_page_load_time_by_its_paired_differences_decides_unless_the_plan_says_otherwise() -> None:
    told = parse_plan(BARE, "p", None).analysis
    assert (told.primary, told.estimand, told.equivalence_margin) == ("plt", "paired_difference", None)
    other = analysis_of('primary = "last_byte"\nestimand = "shift"\nequivalence_margin_rtts = 0.25')
    assert (other.primary, other.estimand) == (OutcomeName.LAST_BYTE, Estimand.SHIFT)
    assert other.equivalence_margin is not None
    assert other.equivalence_margin.compute_ms(rtt_ms=40.0) == 10.0
    in_ms = analysis_of("equivalence_margin_ms = 5").equivalence_margin
    assert in_ms is not None
    assert in_ms.compute_ms(rtt_ms=40.0) == 5.0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('primary = "speed"', "analysis.primary: 'speed' is no outcome of these trials; allowed: plt, "),
        ('estimand = "mean"', "analysis.estimand: unknown level 'mean'; allowed: paired_difference, "),
        ("equivalence_margin_ms = 1\nequivalence_margin_rtts = 1", "analysis: takes one of"),
    ],
)
def test_what_decides_is_one_of_what_there_is(text: str, problem: str) -> None:
    with pytest.raises(ConfigurationError, match=problem):
        analysis_of(text)
