"""JSON Schema of a live plan's own tables. Not for: the other tables (`plan.schema`)."""

from dataclasses import fields
from typing import Any

from resolab.basics.records import DnsTransport
from resolab.plan.live.sites import MOST_SITES
from resolab.plan.manners import HARD_CAPS

Schema = dict[str, Any]
_TEXT: Schema = {"type": "string"}
_TEXTS: Schema = {"type": "array", "minItems": 1, "uniqueItems": True, "items": _TEXT}


def live_tables() -> Schema:
    """Describe `[network]`, `[sites]` and `[resolvers.NAME]`."""
    return {"network": _network(), "sites": _sites(), "resolvers": _resolvers()}


def _network() -> Schema:
    caps = {
        one.name: {"type": "integer", "minimum": 1, "maximum": getattr(HARD_CAPS, one.name)}
        for one in fields(HARD_CAPS)
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "kind": {"const": "live"},
            "vantage_point": {"type": "string", "description": "A name for where it runs from."},
            "operator_url": {"type": "string", "description": "Goes into every user agent."},
            "opt_out": {"type": "string", "description": "https URL or file of domains never to be contacted."},
            "known_names_first": {"type": "boolean"},
            "caps": {"type": "object", "additionalProperties": False, "properties": caps},
        },
        "required": ["kind", "vantage_point", "operator_url"],
    }


def _sites() -> Schema:
    named = {"urls": _TEXTS}
    drawn = {
        "list": _TEXT,
        "list_id": _TEXT,
        "ranks": _TEXTS,
        "sample": {"type": "integer", "minimum": 1, "maximum": MOST_SITES},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {**named, **drawn},
        "oneOf": [{"required": ["urls"]}, {"required": ["list", "list_id", "ranks"]}],
    }


def _resolvers() -> Schema:
    of_transports = {str(transport): _TEXT for transport in DnsTransport}
    one = {"type": "object", "additionalProperties": False, "minProperties": 1, "properties": of_transports}
    return {"type": "object", "additionalProperties": one}
