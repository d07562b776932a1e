"""JSON Schema of plan files, for editors: completion, and mistakes underlined while typing.

For: keys, types and closed vocabularies. Not for: rules known only from the whole plan (names of pages and profiles,
impossible combinations); `resolab plan check` reports violations.
"""

from dataclasses import fields
from typing import Any

from resolab.basics.records import DnsTransport, TrialKind
from resolab.plan.analysis import Analysis
from resolab.plan.browser_builds import KINDS
from resolab.plan.choices import BASELINE_FACTORS
from resolab.plan.condition import DECLARED, list_needed_factors
from resolab.plan.expectation import ExpectationKind
from resolab.plan.factors import EVERY_FACTOR, FACTORS, FREE_NAMES, NUMBERS, OPTIONAL_FACTORS, list_allowed_words
from resolab.plan.key_exchange import key_exchange_schema
from resolab.plan.kind import KIND_RULES
from resolab.plan.live.schema import live_tables
from resolab.plan.model import Plan, Repeat
from resolab.plan.pages.page_levels import GeneratedPages
from resolab.plan.section import NAME
from resolab.plan.settings import (
    Design,
    EdgeSettings,
    Instrument,
    Limits,
    PageSettings,
    QuerySettings,
    ResolverSettings,
    StopSettings,
    Unit,
    describe_setting,
)
from resolab.plan.software.table import software_schema

Schema = dict[str, Any]
_UNIT_PAGE: Schema = {"properties": {"unit": {"const": str(Unit.PAGE)}}, "required": ["unit"]}

_WHOLE_NAME = f"^{NAME.pattern}$"
"""The pattern of names declared by a plan's tables."""
_HAS_DRAWN_PAGES: Schema = {"properties": {"pages": {"required": ["generated"]}}, "required": ["pages"]}


def plan_schema() -> Schema:
    """Make the JSON Schema of plans."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "resolab plan",
        **_table(
            {
                "name": {"type": "string", "description": "Goes into the dataset's name."},
                "question": {"type": "string"},
                "seed": describe_setting(Plan, "seed"),
                "blocks": describe_setting(Plan, "blocks"),
                "kind": describe_setting(Plan, "kind"),
                "study": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
                "factors": _factors(),
                "pages": _table(
                    {"generated": _table(_keys(GeneratedPages), required=("count",)), **_keys(PageSettings)}
                ),
                "design": _settings(Design),
                "resolver_path": _resolver_path(),
                "exclude": {"type": "array", "items": _exclusion()},
                "baseline": _baseline(),
                "repeat": {"type": "array", "items": _repeat()},
                "comparison": {"type": "array", "items": _comparison()},
                "expect": {"type": "array", "items": _expectation()},
                "stop": _settings(StopSettings),
                "browser": _browser_builds(),
                "resolver": _settings(ResolverSettings),
                "edge": _settings(EdgeSettings),
                "queries": _settings(QuerySettings),
                "software": software_schema(),
                "key_exchange": _table(key_exchange_schema()),
                "analysis": _settings(Analysis),
                "limits": _settings(Limits),
                "instrument": _settings(Instrument),
                **live_tables(),
            },
            required=("name", "question", "seed", "factors", "baseline"),
        ),
        "if": {"required": ["network"]},
        "then": {
            "required": ["sites", "resolvers"],
            "properties": {"factors": {"required": ["resolver", "dns_transport"]}},
        },
        "else": {
            "allOf": [
                {"anyOf": [{"required": ["blocks"]}, {"properties": {"design": _UNIT_PAGE}, "required": ["design"]}]},
                *(_rules_of_kind(kind) for kind in TrialKind),
            ],
        },
    }


def _rules_of_kind(kind: TrialKind) -> Schema:
    """Return the needed factors and the refused tables of a kind of trial, for the plans of this kind."""
    needed = [factor for factor in list_needed_factors(kind) if factor != "page"]
    rules: list[Schema] = [{"properties": {"factors": {"required": needed}}}]
    if "page" in list_needed_factors(kind):
        rules.append({"anyOf": [{"properties": {"factors": {"required": ["page"]}}}, _HAS_DRAWN_PAGES]})
    if KIND_RULES[kind].resolver_path is None:
        rules.append({"required": ["resolver_path"]})
    if kind is TrialKind.STUDY:
        rules += [{"required": ["study"]}, {"properties": {"factors": {"required": ["study_arm"]}}}]
    rules += [{"not": {"required": [table]}} for table in KIND_RULES[kind].refused_tables]
    is_default = kind is TrialKind.PAGE_LOAD
    chosen: Schema = {"properties": {"kind": {"const": str(kind)}}} | ({} if is_default else {"required": ["kind"]})
    return {"if": chosen, "then": {"allOf": rules}}


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
        return {"type": "integer" if DECLARED[factor].kind is int else "number", "minimum": low, "maximum": high}
    if factor in {"page", "profile", *FREE_NAMES}:
        return {"type": "string"}
    words: Schema = {"enum": list(list_allowed_words(factor))}
    has_own_names = bool(DECLARED[factor].about.stock_names)
    return {"anyOf": [words, {"type": "string", "pattern": _WHOLE_NAME}]} if has_own_names else words


def _levels(factor: str) -> Schema:
    return {"type": "array", "minItems": 1, "uniqueItems": True, "items": _word(factor)}


def _factors() -> Schema:
    return _table({factor: _levels(factor) for factor in (*FACTORS, *OPTIONAL_FACTORS)})


def _resolver_path() -> Schema:
    one_or_more = {"anyOf": [_word("resolver_path"), _levels("resolver_path")]}
    return _table({str(transport): one_or_more for transport in DnsTransport})


def _browser_builds() -> Schema:
    build = _table({"kind": {"enum": [*KINDS]}, "path": {"type": "string"}}, required=("kind", "path"))
    return {"type": "object", "propertyNames": {"pattern": _WHOLE_NAME}, "additionalProperties": build}


def _selection() -> Schema:
    return {factor: _levels(factor) for factor in EVERY_FACTOR}


def _exclusion() -> Schema:
    return {**_table(_selection()), "minProperties": 1}


def _repeat() -> Schema:
    return _table({**_selection(), "times": describe_setting(Repeat, "times")})


def _comparison() -> Schema:
    properties = {"name": {"type": "string"}, "treatment": _exclusion(), "baseline": _baseline()}
    return _table(properties, required=("name", "treatment", "baseline"))


def _expectation() -> Schema:
    number: Schema = {"type": "number", "exclusiveMinimum": 0}
    properties = {
        "name": {"type": "string"},
        "comparison": {"type": "string"},
        "kind": {"enum": [str(one) for one in ExpectationKind]},
        "outcome": describe_setting(Analysis, "primary"),
        "treatment": _exclusion(),
        "baseline": _baseline(),
        **dict.fromkeys(("margin_ms", "margin_percent", "percent", "slow_ms"), number),
        "count": {"type": "integer", "minimum": 0},
    }
    return _table(properties, required=("name", "kind"))


def _settings(table: type) -> Schema:
    return _table(_keys(table))


def _keys(table: type) -> Schema:
    return {one.name: describe_setting(table, one.name) for one in fields(table)}


def _baseline() -> Schema:
    return {**_table({factor: _word(factor) for factor in BASELINE_FACTORS}), "minProperties": 1}
