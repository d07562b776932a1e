"""Settings are declared once: what the schema of plans says of a number is what reading it does."""

from collections.abc import Iterator
from typing import Any

import pytest
from test_plan_load import TEXT

from resolab.errors import ConfigurationError
from resolab.plan import Plan, parse_plan
from resolab.plan.schema import plan_schema

BARE = TEXT[: TEXT.index("[limits]")]


def numbers() -> Iterator[tuple[str, str, dict[str, Any]]]:
    properties = plan_schema()["properties"]
    tables = {"": properties} | {
        name: one["properties"]
        for name, one in properties.items()
        if name in {"stop", "resolver", "queries", "limits", "instrument"}
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
    assert len(list(numbers())) == 11
