"""JSON Schema of plan files, for editors: completion, and mistakes underlined while typing.

For: keys, types and closed vocabularies. Not for: what only a reading of the whole plan knows (names of pages and
profiles, combinations that cannot be); `resolab plan check` says those.
"""

from dataclasses import fields
from typing import Any

from resolab.plan.choices import HIGHEST_TIMES
from resolab.plan.factors import FACTORS, NUMBERS, OPTIONAL_FACTORS, allowed_words
from resolab.plan.model import Baseline, Instrument
from resolab.plan.settings import FEWEST_BLOCKS, MOST_PATHS, MOST_WARM_QUERIES
from resolab.records import DnsTransport

Schema = dict[str, Any]


def plan_schema() -> Schema:
    """Make the schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "resolab plan",
        **_table(
            {
                "name": {"type": "string", "description": "Goes into the dataset's name."},
                "question": {"type": "string"},
                "seed": {"type": "integer", "minimum": 0, "description": "Every random choice derives from it."},
                "blocks": {"type": "integer", "minimum": 1, "description": "How often every condition runs."},
                "factors": _factors(),
                "resolver_path": _resolver_path(),
                "exclude": {"type": "array", "items": _exclusion()},
                "baseline": _baseline(),
                "repeat": {"type": "array", "items": _repeat()},
                "comparison": {"type": "array", "items": _comparison()},
                "stop": _stop(),
                "resolver": _table({"miss_delay_ms": {"type": "number"}}),
                "queries": _table({"warm_count": {"type": "integer", "minimum": 0, "maximum": MOST_WARM_QUERIES}}),
                "limits": _table({"page_timeout_s": {"type": "number"}, "lateness_p99_ms": {"type": "number"}}),
                "instrument": _instrument(),
            },
            required=("name", "question", "seed", "blocks", "factors", "resolver_path", "baseline"),
        ),
    }


def _table(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        **({"required": list(required)} if required else {}),
    }


def _word(factor: str) -> Schema:
    if factor in NUMBERS:
        low, high = NUMBERS[factor]
        return {"type": "number", "minimum": low, "maximum": high}
    return {"type": "string"} if factor in {"page", "profile"} else {"enum": list(allowed_words(factor))}


def _levels(factor: str) -> Schema:
    return {"type": "array", "minItems": 1, "uniqueItems": True, "items": _word(factor)}


def _factors() -> Schema:
    return _table({factor: _levels(factor) for factor in (*FACTORS, *OPTIONAL_FACTORS)}, required=FACTORS)


def _resolver_path() -> Schema:
    one_or_more = {"anyOf": [_word("resolver_path"), _levels("resolver_path")]}
    return _table({str(transport): one_or_more for transport in DnsTransport})


def _selection() -> Schema:
    return {factor: _levels(factor) for factor in (*FACTORS, "resolver_path", *OPTIONAL_FACTORS)}


def _exclusion() -> Schema:
    return {**_table(_selection()), "minProperties": 1}


def _repeat() -> Schema:
    return _table({**_selection(), "times": {"type": "integer", "minimum": 2, "maximum": HIGHEST_TIMES}})


def _comparison() -> Schema:
    properties = {"name": {"type": "string"}, "treatment": _exclusion(), "baseline": _baseline()}
    return _table(properties, required=("name", "treatment", "baseline"))


def _stop() -> Schema:
    return _table(
        {
            "ci_width_ms": {"type": "number", "description": "Full width of the interval of a paired difference."},
            "ci_width_ratio": {"type": "number", "description": "Full width of the interval of a relative change."},
            "min_blocks": {"type": "integer", "minimum": FEWEST_BLOCKS},
            "check_every_blocks": {"type": "integer", "minimum": 1},
        }
    )


def _instrument() -> Schema:
    switches = {one.name: {"type": "boolean"} for one in fields(Instrument) if one.name != "paths"}
    paths = {"type": "integer", "minimum": 1, "maximum": MOST_PATHS, "description": "On which trials run at a time."}
    return _table({**switches, "paths": paths})


def _baseline() -> Schema:
    return {**_table({one.name: _word(one.name) for one in fields(Baseline)}), "minProperties": 1}
